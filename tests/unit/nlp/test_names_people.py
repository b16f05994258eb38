"""Who is in the story, from the evidence of its documents."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from lrwr.core.model.cast import Cast, Character, Gender
from lrwr.core.model.facts import Certainty
from lrwr.core.model.text import Span
from lrwr.core.nlp.names.clusters import PeopleIndex
from lrwr.core.nlp.names.evidence import gather_name_evidence
from lrwr.core.nlp.names.inference import NotePerson, infer_cast
from lrwr.core.nlp.names.lexicon import (
    GivenNameIndex,
    find_matching_given_names,
    is_same_given_name,
)
from lrwr.core.nlp.names.name_form import NameForm
from lrwr.core.nlp.names.overrides import NameOverrides
from lrwr.core.nlp.names.person import PersonCluster, may_share_given_name

TALK = (
    "“Is it late, Corin?” said Nell Tallow. “No,” said Corin Vale. He looked at Nell. "
    "Nell shut her book. “You are tired, Nell,” said Corin. “I am not,” said Nell.\n\n"
)
GANNETS = (
    "“Sit down,” said Mr. Gannet. “Thank you,” said Mrs. Gannet. Mr. Gannet sat, and "
    "Mrs. Gannet told her sister so. “Well, Mr. Gannet?” said Mrs. Gannet.\n\n"
)
FROGS = (
    "“Nine,” said PurpleFrog. She counted. “Ten, Frog,” said BrineHob. “Ten,” said "
    "PurpleFrog to Hob. “Good,” said Hob, and he sat. “Frog,” said Hob, “eleven.” "
    "“Twelve,” PurpleFrog said. The cans for Frog and for Hob were in Thole.\n\n"
)


def cast_from(*texts: str, **told: object) -> Cast:
    evidence = [gather_name_evidence(text, [Span(0, len(text))]) for text in texts]
    return infer_cast(evidence, **told)  # type: ignore[arg-type]


def names(cast: Cast) -> set[str]:
    return {one.name for one in cast.characters}


def forms(one: Character) -> set[str]:
    return {alias.name for alias in one.aliases}


def who(cast: Cast, name: str) -> Character:
    return next(one for one in cast.characters if name in forms(one))


def test_given_name_and_full_name_are_one_person() -> None:
    cast = cast_from(TALK)

    assert names(cast) == {"Nell", "Corin"}
    assert {"Nell", "Nell Tallow"} <= forms(who(cast, "Nell"))


def test_pronouns_tell_the_gender() -> None:
    cast = cast_from(TALK * 3)

    assert who(cast, "Nell").gender is Gender.FEMALE
    assert who(cast, "Corin").gender is Gender.MALE


def test_husband_and_wife_stay_two_people() -> None:
    cast = cast_from(GANNETS)

    assert names(cast) == {"Mr. Gannet", "Mrs. Gannet"}
    assert who(cast, "Mrs. Gannet").gender is Gender.FEMALE
    assert who(cast, "Mr. Gannet").certainty is Certainty.VERIFIED


def test_a_part_of_a_name_written_together_is_an_alias() -> None:
    cast = cast_from(FROGS)

    assert names(cast) == {"PurpleFrog", "Hob"}
    assert "Frog" in forms(who(cast, "PurpleFrog"))
    assert "BrineHob" in forms(who(cast, "Hob"))


def test_a_title_with_the_only_surname_outranks_pronouns() -> None:
    cast = cast_from(
        "“Sit, Mr. Hasling,” said Nell. “Yes, Mr. Hasling, do,” said Corin. "
        "“Come, Mr. Hasling.” " + "“I met Hasling and she laughed,” said Nell. " * 6
    )
    assert {"Mr. Hasling", "Hasling"} <= forms(who(cast, "Mr. Hasling"))


def test_the_title_of_two_is_no_name_of_one() -> None:
    talk = TALK.replace("Corin Vale", "Captain Vale").replace("Corin", "Captain Vale")
    both = "He came back with Captains Vale and Gannet. The Captains sat down.\n\n"
    vale = who(cast_from(talk * 2 + both * 3), "Captain Vale")
    assert "Vale" in forms(vale)
    assert not any("Captains" in form for form in forms(vale))


def test_esq_and_exclamations_are_nobody() -> None:
    cast = cast_from(
        "“Lor, sir!” said Nell. “Oh, Lor!” cried Corin. “Lor,” said Nell. "
        "He wrote to Corin Vale, Esq. She read Corin Vale, Esq. Corin Vale, Esq., came."
    )
    assert not {"Lor", "Esq", "Esq."} & names(cast)


def test_a_place_is_nobody() -> None:
    cast = cast_from(
        (TALK + "They lived in Thole. In Thole it rained. Near Thole. ") * 3
    )

    assert "Thole" not in {form for one in cast.characters for form in forms(one)}


def test_a_name_that_is_a_word_too_is_a_name() -> None:
    text = "“Go,” said Ash. The ash fell. He told Ash so. “No, Ash,” said Will. "
    cast = cast_from(text * 4 + "She will come. Will she? They saw Will and Ash.")

    assert names(cast) == {"Ash", "Will"}


def test_a_short_name_finds_its_long_one() -> None:
    text = TALK + "“Come, Dot,” said Dorothea Pell. “Dot is tired,” said Nell of Dot. "
    cast = cast_from(text * 3)

    assert {"Dot", "Dorothea Pell"} <= forms(who(cast, "Dot"))


def test_a_form_that_several_bear_is_shared() -> None:
    sisters = (
        "“Yes,” said Orla Gannet. “No,” said Isa Gannet. “Ask Miss Gannet,” said Orla "
        "Gannet. “I did,” said Isa Gannet. Orla and Isa laughed, and she sat. "
    )
    cast = cast_from(sisters * 4 + "“Miss Gannet!” he cried. ")

    assert set(cast.shared["Miss Gannet"]) == {"Orla Gannet", "Isa Gannet"}


def test_the_documents_of_a_library_are_read_together() -> None:
    cast = cast_from(TALK, TALK, GANNETS)

    assert {"Nell", "Corin", "Mr. Gannet", "Mrs. Gannet"} == names(cast)


def test_who_says_i_is_named_only_where_others_name_them() -> None:
    text = "I sat. “Come, Wren,” said Nell. I came. “Wren, look!” cried Nell. I did. "
    told = cast_from(text * 12)

    assert [one.name for one in told.characters if one.narrator] == ["Wren"]
    assert not any(one.narrator for one in cast_from(TALK * 12).characters)


def test_notes_are_confirmed_and_bring_their_aliases() -> None:
    noted = (NotePerson("Nell Tallow", ("Wren", "the keeper"), Gender.FEMALE),)
    cast = cast_from(TALK, noted=noted)
    nell = who(cast, "Wren")

    assert nell.name == "Nell Tallow"
    assert nell.certainty is Certainty.CONFIRMED
    assert {"Nell", "the keeper"} <= forms(nell)
    assert nell.gender_certainty is Certainty.CONFIRMED


def test_merged_names_are_one_person() -> None:
    decided = NameOverrides(merged={"Nell": ("Corin",)})
    cast = cast_from(TALK, decided=decided)

    assert names(cast) == {"Nell"}
    assert "Corin" in forms(who(cast, "Nell"))


def test_a_split_pair_is_never_one() -> None:
    decided = NameOverrides(split=(("Nell", "Nell Tallow"),))
    cast = cast_from(TALK, decided=decided)

    assert who(cast, "Nell") is not who(cast, "Nell Tallow")


def test_a_split_outranks_notes() -> None:
    noted = (NotePerson("Nell Tallow", ("Wren",)),)
    decided = NameOverrides(split=(("Nell Tallow", "Wren"),))

    assert "Wren" not in forms(
        who(cast_from(TALK, noted=noted, decided=decided), "Nell Tallow")
    )


def test_renamed_is_what_a_person_is_called() -> None:
    cast = cast_from(TALK, decided=NameOverrides(renamed={"Nell": "SootWren"}))

    assert {"Nell", "SootWren"} <= forms(who(cast, "SootWren"))
    assert names(cast) == {"SootWren", "Corin"}


def test_ignored_words_name_nobody() -> None:
    cast = cast_from(TALK, decided=NameOverrides(ignored=("corin", "Corin Vale")))

    assert names(cast) == {"Nell"}


NAMES = st.sampled_from(["Nell", "Corin", "Nell Tallow", "Corin Vale", "Mr. Gannet"])


@given(st.lists(st.tuples(NAMES, NAMES), max_size=3), st.sets(NAMES, max_size=2))
def test_whatever_is_decided_holds(
    pairs: list[tuple[str, str]], gone: set[str]
) -> None:
    split = tuple((one, other) for one, other in pairs if one != other)
    decided = NameOverrides(split=split, ignored=tuple(gone))
    cast = cast_from(TALK, GANNETS, decided=decided)

    assert len(names(cast)) == len(cast.characters)
    for one in cast.characters:
        assert not forms(one) & gone
        assert not any({a, b} <= forms(one) for a, b in split)


def test_the_same_evidence_makes_the_same_cast() -> None:
    assert cast_from(TALK, FROGS, GANNETS) == cast_from(TALK, FROGS, GANNETS)


def test_no_evidence_makes_no_cast() -> None:
    assert infer_cast([]) == Cast()


def test_a_name_that_somebody_is_called_by_is_an_alias() -> None:
    text = TALK + "They asked Nell, called Wren by her father. “Wren!” cried Corin. "

    assert "Wren" in forms(who(cast_from(text * 3), "Nell"))


def test_two_people_whom_the_notes_call_alike_stay_two() -> None:
    noted = (
        NotePerson("Orla Gannet", ("the keeper",)),
        NotePerson("Isa Gannet", ("the keeper",)),
    )
    talk = "“Yes,” said Orla Gannet. “No,” said Isa Gannet. The keeper sat. "
    cast = cast_from(talk * 4, noted=noted)

    assert names(cast) == {"Orla Gannet", "Isa Gannet"}


def test_two_notes_of_one_name_are_of_one_person() -> None:
    noted = (NotePerson("Nell Tallow", ("Wren",)), NotePerson("Wren", ("Cap",)))
    cast = cast_from(TALK, noted=noted)

    assert {"Wren", "Cap"} <= forms(who(cast, "Nell Tallow"))


GIVEN_NAMES = st.text("abiey", max_size=7) | st.sampled_from(
    ["liz", "lizzie", "elizabeth", "eliza", "kit", "catherine", "nell", "nellie"]
)


@given(GIVEN_NAMES, st.lists(GIVEN_NAMES, max_size=30))
def test_the_index_finds_the_same_given_names_as_a_full_comparison(
    word: str, known: list[str]
) -> None:
    index = GivenNameIndex()
    for name in known:
        index.add(name)
    assert index.find(word) == find_matching_given_names(word, known)


WORDS = ["Nell", "Nellie", "Eleanor", "Corin", "Vale", "Tallow", "NellTallow", "Liz"]
NAME_FORMS = st.builds(
    lambda title, words: NameForm(" ".join([title, *words]), title, tuple(words)),
    st.sampled_from(["", "mr", "captain"]),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
)


@given(st.lists(st.lists(NAME_FORMS, min_size=1, max_size=4), max_size=8), st.data())
def test_the_index_finds_the_same_people_as_a_search_through_all(
    forms_by_person: list[list[NameForm]], data: st.DataObject
) -> None:
    people = [
        PersonCluster(noted=data.draw(st.sampled_from(["", "Nell"])))
        for _ in forms_by_person
    ]
    index = PeopleIndex(people)
    for person, own_forms in zip(people, forms_by_person, strict=True):
        for form in own_forms:
            person.add(form, "")
            index.add(person)
    word, last = (data.draw(st.sampled_from(WORDS)).lower() for _ in range(2))
    joined = {word, last}

    def where(claim: Callable[[PersonCluster], object]) -> list[PersonCluster]:
        return [person for person in people if claim(person)]

    assert index.find("givens", word) == where(lambda p: word in p.givens)
    assert index.find("lasts", last) == where(lambda p: last in p.lasts)
    assert index.find("titles", "mr") == where(lambda p: "mr" in p.titles)
    assert index.find("noted", word) == where(lambda p: p.noted and word in p.givens)
    assert index.find_near(word) == where(lambda p: may_share_given_name(p, word))
    assert index.find_any("forms", ["Nell", " Nell"]) == where(
        lambda p: {"Nell", " Nell"} & p.forms.keys()
    )
    assert index.find_relatives(word, last) == where(
        lambda p: last in p.lasts and any(is_same_given_name(word, g) for g in p.givens)
    )
    assert index.find_joined(joined) == where(
        lambda p: any(
            {w.lower() for w in form.words} == joined for form in p.forms.values()
        )
    )


def test_parts_of_full_names_that_others_share_are_not_given_to_one_person() -> None:
    talk = (
        "“Yes,” said Orla Gannet. “No,” said Isa Gannet. “Ask him,” said Orla Tallow. "
    )
    cast = cast_from(talk * 4)
    assert forms(who(cast, "Isa Gannet")) == {"Isa Gannet", "Isa"}
    assert forms(who(cast, "Orla Gannet")) == {"Orla Gannet"}
    assert forms(who(cast, "Orla Tallow")) == {"Orla Tallow", "Tallow"}


def test_one_more_mention_never_removes_a_character() -> None:
    novel = "The rain went on over the roofs of the town all the night long. " * 1_900
    lusk = (
        "Mr. Lusk sat down. They had sent for Mr. Lusk. Mr. Lusk stood there and "
        "the road was long. It was for Mr. Lusk to pay, and Mr. Lusk was late."
    )
    for more in ("", " They saw Mr. Lusk.", " They saw Mr. Lusk. It was Mr. Lusk."):
        assert "Mr. Lusk" in names(cast_from(TALK + lusk + more + "\n\n" + novel)), more


def test_somebody_whose_kinship_is_stated_is_a_person() -> None:
    text = "Nell's brother was Corin Marl, and Corin Marl was Nell's only brother."
    evidence = gather_name_evidence(text, [Span(0, len(text))])

    assert evidence.forms["Corin Marl"]["kin"] == 1
    assert evidence.forms["Corin Marl"]["male"] >= 3


def test_a_lisped_title_is_nobody_and_a_lisped_name_is_its_bearers() -> None:
    lisp = "“Thergeant,” said Corin Vale, “I know Thuthan, Thergeant. See, Thuthan. I thay, Thergeant!” "
    text = lisp + "It rained.\n\nSusan sat. Susan shook her head, and Susan went. "
    cast = cast_from((TALK + text + "\n\n") * 4)

    assert not any(
        "Thergeant" in form for one in cast.characters for form in forms(one)
    )
    assert "Thuthan" in forms(who(cast, "Susan"))


def test_a_word_with_an_article_that_is_only_spoken_is_nobody() -> None:
    text = "“The Gaffer is out,” said Nell. “Ask the Gaffer,” said Corin. “Gaffer!” "
    cast = cast_from((TALK + text) * 4)

    assert "Gaffer" not in {form for one in cast.characters for form in forms(one)}


def test_a_surname_in_address_is_the_relative_who_speaks() -> None:
    text = (
        "“Marl, come here,” said Corin. “Yes, sir,” said Anna Marl. She sat. "
        "“Marl!” said Nell. They knew Signor Marl. “Good, Marl,” said Corin. "
        "“Thank you,” said Anna. She smiled. "
    )
    cast = cast_from((TALK + text) * 3)

    assert "Anna Marl" in cast.shared["Marl"]


def test_a_full_name_that_is_only_spoken_may_be_the_fathers_or_the_sons() -> None:
    family = (
        "Mr. Vale sat. Mrs. Vale sat too. They knew that Thomas Vale was proud. Tom looked at "
        "him. “My friend Tom Vale is here,” said Nell.\n\n“I know Tom Vale,” said Anna. "
        "“Father,” said Tom, and he stood. Mr. Vale shook his head.\n\n"
    )
    cast = cast_from(family * 12)

    assert set(cast.shared["Tom Vale"]) == {"Tom", who(cast, "Mr. Vale").name}
    cast = cast_from(family * 12 + "He read of Tom Thumb. ")
    assert forms(who(cast, "Tom")) == {"Tom"}
