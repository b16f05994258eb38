"""Given names that English gives to girls or to boys: a hint, never a proof."""

_FEMALE_NAMES_WRITTEN = """ada adela adelaide agatha agnes alice alicia alison amanda amelia amy angela anita
    ann anna annabel anne annette annie audrey augusta barbara beatrice belinda bella
    bertha bess bessie beth betsey betsy betty bianca bridget camilla carla carol
    caroline carrie catherine cecilia celia charlotte christina christine clara claire
    clarissa constance cora cordelia cynthia daisy daphne deborah delia diana dinah dora
    doris dorothea dorothy edith effie eileen elaine eleanor elena eliza elizabeth ella
    ellen elsie emily emma emmeline esther ethel eugenia eva eve eveline evelyn fanny
    flora florence frances georgiana georgina gertrude gladys grace gwen gwendolen
    hannah harriet hattie helen helena henrietta hester hilda ida irene iris isabel
    isabella ivy jane janet jean jemima jennifer jenny jessica jessie joan joanna
    josephine joyce judith julia juliana juliet kate katherine kathleen kitty laura
    lavinia leah lena letitia lilian lily linda lisa lizzie lizzy lois louisa louise lucia
    lucilla lucinda lucy lydia mabel madeleine maggie marcia margaret maria marian
    marianne marie marjorie martha mary matilda maud maude meg melissa mercy mildred
    millicent minnie miranda miriam molly monica muriel myra myrtle nancy naomi natalie
    nell nellie nelly nina nora olive olivia ophelia pamela patience patricia paula
    pauline penelope philippa phoebe phyllis polly priscilla prudence rachel rebecca
    rhoda rosa rosalie rosalind rosamond rosamund rosemary ruth sally sandra sara sarah
    selina sheila sibyl sophia sophie stella susan susanna sybil sylvia tabitha teresa
    tess theodora theresa ursula valerie vera veronica victoria viola violet virginia
    vivian wendy winifred zoe"""
FEMALE_NAMES = frozenset(_FEMALE_NAMES_WRITTEN.split())

_MALE_NAMES_WRITTEN = """aaron abel abraham adam adrian alan albert alec alexander alfred ambrose andrew
    angus anthony antony archibald archie arnold arthur augustus barnaby bartholomew
    basil ben benjamin bernard bert bertram bill billy bob bobby brian bruce caleb carl
    cecil charles charley charlie christopher claude clement clifford colin cornelius
    cyril daniel dave david dennis dick donald douglas duncan ebenezer ed eddie edgar
    edmund edward edwin eli elijah ephraim eric ernest eugene eustace evan ezra felix
    ferdinand francis frank franklin fred freddy frederick gabriel geoffrey george gerald
    gilbert giles godfrey gordon graham gregory guy hal harold harry harvey hector henry
    herbert herman hiram horace howard hubert hugh humphrey ian isaac ivan jack jacob
    jake james jasper jeremiah jeremy jerry jim jimmy joe joel john johnny jonah jonathan
    joseph joshua josiah julian julius keith kenneth kevin lawrence lemuel leo leonard
    leopold lewis lionel louis luke marcus mark martin matthew maurice max michael miles
    mike mortimer moses nathan nathaniel ned neil nicholas nick nigel noah norman oliver
    oscar oswald owen patrick paul percy peter philip phineas pip ralph randolph raymond
    reginald reuben richard robert robin rodney roger roland ronald rupert sam samuel
    saul sebastian seth sidney silas simeon simon solomon stanley stephen steve steven
    sydney ted theodore thomas tim timothy tobias toby tom tommy tony ulysses valentine
    victor vincent walter wilfred will william willie"""
MALE_NAMES = frozenset(_MALE_NAMES_WRITTEN.split())
"""Kept apart from names that are as often a girl's."""
