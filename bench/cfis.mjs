// Whether another program finds the paragraphs of e-books by the CFIs that lrwr writes.
//
//   python -m bench.epubs FOLDER --cfis cfis.json
//   npm install --prefix WORK epubjs@0.3.93 jsdom@22 jszip@3
//   NODE_PATH=WORK/node_modules node bench/cfis.mjs cfis.json [BOOK...]
//
// Books whose names contain one of the further arguments are left out: two large ones of the
// IDPF's samples (jlreq) take jsdom hours.
// Each CFI is resolved by epub.js in the file that the package's spine names. The text of the
// element must be that of the paragraph, but for white space, pictures and footnote marks. A file
// that is not well-formed XML counts as unreadable: epub.js reads XML only.

import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(path.resolve(process.env.NODE_PATH ?? "", "index.js"));
const { JSDOM } = require("jsdom");
const JSZip = require("jszip");

const { window } = new JSDOM("");
for (const name of ["document", "Node", "DOMParser", "XPathResult"]) {
  globalThis[name] = window[name];
}
globalThis.window = window;
const EpubCFI = require("epubjs/lib/epubcfi.js").default;
const parser = new window.DOMParser();
const OPS = "http://www.idpf.org/2007/ops";
const SHOWN = 15;

const squeeze = (text) => text.normalize("NFC").replace(/[\s\u00a0]+/g, "");
const parse = (text, kind) => parser.parseFromString(expand(text.replace(/^\ufeff/, "")), kind);

/** Replace the entities that a file declares: jsdom leaves `&#x201C;` in their values as it is. */
function expand(text) {
  const declared = new Map(
    [...text.matchAll(/<!ENTITY\s+([\w.-]+)\s+"([^"]*)"\s*>/g)].map(([, name, value]) => [name, value]),
  );
  return text.replace(/&([\w.-]+);/g, (whole, name) => declared.get(name) ?? whole);
}

/** Read a book's package: its document, folder and a reader of files. */
async function openBook(file) {
  const zip = await JSZip.loadAsync(fs.readFileSync(file));
  const read = async (name) => zip.file(name)?.async("string");
  const container = parse(await read("META-INF/container.xml"), "text/xml");
  const name = container.getElementsByTagNameNS("*", "rootfile")[0].getAttribute("full-path");
  const root = parse(await read(name), "text/xml");
  return { root, folder: name.replace(/[^/]*$/, ""), read, files: new Map() };
}

/** Return the document that a CFI leads to; null if it is not well-formed. */
async function openFile(book, cfi, position) {
  const spine = book.root.documentElement.children[cfi.match(/^\/(\d+)/)[1] / 2 - 1];
  const id = spine.children[position].getAttribute("idref");
  const items = [...book.root.getElementsByTagNameNS("*", "item")];
  const href = items.find((item) => item.getAttribute("id") === id).getAttribute("href");
  const name = decodeURIComponent(new URL(href, `http://x/${book.folder}`).pathname.slice(1));
  if (!book.files.has(name)) {
    const text = await book.read(name);
    const file = text === undefined ? null : parse(text, "application/xhtml+xml");
    book.files.set(name, file?.getElementsByTagName("parsererror").length ? null : file);
  }
  return book.files.get(name);
}

/** Return the text of a node without what lrwr leaves out. */
function readNode(node) {
  if (node.nodeType === 3) return node.textContent;
  const copy = node.cloneNode(true);
  copy.querySelectorAll("script,style,template,rt,rp,title").forEach((e) => e.remove());
  for (const element of copy.querySelectorAll("*")) {
    const types = `${element.getAttributeNS(OPS, "type")} ${element.getAttribute("role")}`;
    if (/noteref|backlink/.test(types)) element.remove();
  }
  return copy.textContent;
}

/** Return whether a node is the paragraph with this text. */
function isParagraph(node, kind, text) {
  if (kind === "break") return node.localName === "hr";
  const wanted = squeeze(text.replace(/\[picture: [^\]]*\]/g, ""));
  if (!wanted) return /^(img|svg)$/.test(node.localName) || !!node.querySelector?.("img,svg");
  const alternative = node.getAttribute?.("alt");
  if (alternative) return squeeze(text).startsWith(squeeze(`[picture: ${alternative}]`));
  const formula = node.querySelector?.("math[alttext]")?.getAttribute("alttext");
  const found = squeeze(readNode(node)) || squeeze(formula ?? "");
  // A picture or a formula with text after it, as the first element of a block with blocks inside.
  if (node.localName === "math") return wanted.startsWith(found);
  // A text node, and a block with blocks inside, begin like the paragraph.
  const length = node.nodeType === 3 ? Math.min(wanted.length, found.length) : 60;
  return found === wanted || found.startsWith(wanted.slice(0, length));
}

const totals = { right: 0, wrong: 0, unreadable: 0 };
for (const { file, paragraphs } of JSON.parse(fs.readFileSync(process.argv[2]))) {
  if (process.argv.slice(3).some((name) => file.includes(name))) continue;
  const book = await openBook(file);
  for (const [cfi, kind, text] of paragraphs) {
    const parsed = new EpubCFI(`epubcfi(${cfi})`);
    const opened = await openFile(book, cfi, parsed.spinePos);
    if (!opened) {
      totals.unreadable += 1;
      continue;
    }
    let node = null;
    try {
      node = parsed.findNode(parsed.path.steps, opened);
    } catch {
      // epub.js throws for steps that lead nowhere.
    }
    if (node && isParagraph(node, kind, text)) totals.right += 1;
    else if ((totals.wrong += 1) <= SHOWN) console.log(path.basename(file), cfi, text.slice(0, 60));
  }
}
console.log(totals);
