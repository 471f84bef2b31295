"""Function words of the languages that retrieval tells apart, written for this project.

Owns: which words carry no topic (articles, pronouns, prepositions, auxiliaries, question words). They serve
two ends: they are dropped from queries (never from the index), and they are the evidence for a text's
language.
Guarantees: every word is folded exactly as terms are, so the lists may be written with or without accents.
Gives up: completeness. A missing word costs a little ranking quality, never a match.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from lodestore.retrieval import scripts
from lodestore.retrieval.folding import fold

_LATIN: Final = {
    "english": """
        a about after again all also always am an and any are aren as at be because been before
        being between both but by can cannot could couldn did didn do does doesn doing don done down
        during each either else ever every few for from further get gets getting go goes going gonna
        got had hadn has hasn have haven having he her here hers herself him himself his how however
        i if in into is isn it its itself just let ll many maybe me might mine more most much must
        my myself neither never no nor not now of off often oh ok okay on once only or other others
        our ours ourselves out over own per perhaps quite rather re really s same shall she should
        shouldn since so some such t than that the their theirs them themselves then there these
        they this those though through thus to too under until up upon us ve very was wasn we were
        weren what whatever when whenever where wherever whether which while who whoever whom whose
        why will with within without won would wouldn yes yet you your yours yourself yourselves
    """,
    "spanish": """
        a al algo alguien alguna algunas alguno algunos algún ante antes aquel aquella aquellas
        aquello aquellos aquí así aun aunque aún bajo bien cada casi como con contra cual cuales
        cualquier cuando cuanta cuantas cuanto cuantos cuya cuyas cuyo cuyos de del desde donde dos
        durante e el ella ellas ello ellos en entre era eran eres es esa esas ese eso esos esta
        estaba estaban estado estamos estar estas este esto estos estoy está están fue fueron fui ha
        haber había habían han has hasta hay haya he hemos hizo hubo incluso jamás la las le les lo
        los luego me mediante mi mientras mis mucha muchas mucho muchos muy más mí mía mío nada ni
        ningún ninguna ninguno no nos nosotros nuestra nuestras nuestro nuestros nunca o os otra
        otras otro otros para pero poco por porque pues que quien quienes qué se sea sean según ser
        si sido siempre sin sino so sobre solamente solo son soy su sus suya suyo sí también tampoco
        tan tanto te tener tiene tienen tenía ti toda todas todavía todo todos tras tu tus tuvo tú
        un una unas uno unos usted ustedes va vez vosotros y ya yo él
    """,
    "french": """
        a afin ai ainsi alors après as au aucun aucune aujourd aura aurait aussi autre autres aux
        auquel avaient avait avant avec avez avoir avons bien c ce ceci cela celle celles celui
        cependant certains ces cet cette ceux chaque chez ci combien comme comment d dans de depuis
        des dessous dessus deux devait doit donc dont du durant elle elles en encore entre es est et
        eu eux fait faire fois font furent fut hors il ils j jamais je jusqu jusque l la laquelle le
        lequel les lesquelles lesquels leur leurs lors lorsqu lorsque lui là m ma mais malgré me mes
        mien moi moins mon même mêmes n ne ni non nos notre nous on ont ou où par parce pas pendant
        peu peut peuvent plus plusieurs pour pourquoi puis puisqu puisque qu quand que quel quelle
        quelles quelqu quelque quelques quels qui quoi s sa sans se selon sera serait ses si sien
        son sont sous soit souvent suis sur t ta tandis tant te tel telle tes toi ton toujours tous
        tout toute toutes trop très tu un une va vers voici voilà vos votre vous y à été était
        étaient étant être
    """,
    "german": """
        ab aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes
        auch auf aus außer bei beide beiden beim bereits bevor bin bis bist bzw da dabei dadurch
        dafür dagegen daher damals damit danach dann daran darauf daraus darin darum darunter das
        dass davon davor dazu dein deine deinem deinen deiner dem den denen denn der deren des
        dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch dürfen ein
        eine einem einen einer eines einige einigen einiger er es etwa etwas euch euer eure für
        gegen gibt hab habe haben hat hatte hatten hattest hier hin hinter ich ihm ihn ihnen ihr
        ihre ihrem ihren ihrer ihres im immer in indem ins ist ja jede jedem jeden jeder jedes
        jedoch jener jetzt kann kein keine keinem keinen keiner können könnte man manche mehr mein
        meine meinem meinen meiner mich mir mit muss musste müssen nach nachdem nicht nichts noch
        nun nur ob obwohl oder ohne sehr sei seid sein seine seinem seinen seiner seines seit selbst
        sich sie sind so sobald sogar solche solchen soll sollen sollte sondern sonst sowie um und
        uns unser unsere unseren unter viel viele vielen vom von vor wann war waren warum was weil
        weiter welche welchem welchen welcher welches wem wen wenn wer werde werden weshalb wessen
        wie wieder wieso wieviel will wir wird wo wodurch woher wohin wollen wollte womit worden
        wurde wurden während wäre würde würden zu zum zur zwar zwischen über
    """,
    "portuguese": """
        a ao aos aquela aquelas aquele aqueles aquilo as assim até cada com como contra cuja cujo da
        dar das de dela delas dele deles depois desde dessa desse desta deste do dos durante e ela
        elas ele eles em enquanto entre era eram essa essas esse esses esta estamos estar estas
        estava estavam este estes estou está estão eu fazer foi foram fosse há isso isto já la lhe
        lhes lo mais mas me mediante mesma mesmo meu meus minha minhas muita muitas muito muitos na
        nada nas nem nenhum nenhuma nessa nesse nesta neste no nos nossa nossas nosso nossos num
        numa nunca não nós o onde os ou outra outras outro outros para pela pelas pelo pelos perante
        pode podem por porque porquê pouco pra qual quais qualquer quando quanta quantas quanto
        quantos que quem se seja sem sempre sendo ser seria seu seus sido sob sobre somente sou sua
        suas são só também tanto te tem tendo ter teu teus teve tinha tinham toda todas todo todos
        tu tua tuas tudo têm um uma umas uns você vocês vos à às é
    """,
    "italian": """
        a abbia abbiamo ad agli ai al alcun alcune alcuni alla alle allo altra altre altri altro
        anche ancora avere aveva avevano avete c che chi ci ciascuno ciò coi col come con contro
        cosa così cui d da dagli dai dal dalla dalle dallo degli dei del della delle dello dentro di
        dietro dopo dove dovrebbe due durante e ecco ed egli ella era erano essa esse essere essi fa
        fare fatto fino fra fu fuori furono già gli ha hai hanno ho i il in infatti invece io l la
        le lei li lo loro lui ma mai me meno mentre mi mia mie miei mio molta molte molti molto ne
        negli nei nel nella nelle nello nessun nessuna nessuno niente noi non nostra nostri nostro
        nulla o ogni oltre oppure ora per perché perciò però più poi poco presso prima proprio può
        qual quale quali qualche quando quanta quante quanti quanto quasi quella quelle quelli
        quello questa queste questi questo qui quindi sarebbe sarà se sei sembra sempre senza si sia
        siamo siano sono sopra sotto sta stata state stati stato stesso su sua sue sugli sui sul
        sulla sulle sullo suo suoi tale tali te ti tra tu tua tuo tutta tutte tutti tutto un una uno
        verso vi voi vostro è
    """,
    "dutch": """
        aan achter af al alle alleen alles als altijd andere anders ben bij binnen boven daar daarna
        daarom dan dat de deze die dit doch doen door dus een eens elk elke en enige er ge geen
        geworden haar had hadden heb hebben heeft hem hen het hier hij hoe hoeveel hun iemand iets
        ik in is ja je jij jou jouw jullie kan kon kunnen maar me meer men met mij mijn moet moeten
        na naar niemand niet niets nog nu of om omdat onder ons onze ook op over reeds sinds te
        tegen tijdens toch toen tot tussen u uit uw van veel voor waar waarin waarom wanneer want
        waren was wat we weer wel welk welke werd werden wie wij wil word worden wordt zal ze zelf
        zich zij zijn zo zoals zonder zou zouden
    """,
    "swedish": """
        all alla allt att av bara blev bli blir blivit de dem den denna deras dess dessa det detta
        dig din dina ditt du där då efter ej eller en enligt er era ert ett finns från för före
        genom ha hade han hans har hon hos hur här i icke ingen inget inom inte jag ju kan kom kunde
        man med mellan men mig min mina mitt mot mycket många ni nu när något några någon och också
        om oss på samma sedan ser sig sin sina sitt själv ska skall skulle som så sådan till under
        upp ut utan vad var vara varför varit varje vart vem vems vi vid vilka vilken vilket vår
        våra vårt än är åt över
    """,
    "norwegian": """
        alle at av bare begge ble bli blir blitt da de deg dem den denne der dere deres det dette di
        din disse ditt du eller en enn er et etter fikk for fordi fra før ha hadde han hans har
        hennes her hun hva hvem hver hvilke hvilken hvis hvor hvordan hvorfor i ikke ingen inn ja
        jeg kan kom kun kunne man mange med meg mellom men mer min mitt mot mye må når nei noe noen
        nå og også om opp oss over på samme seg selv sin sine sitt skal skulle slik som så til ut
        uten var ved vi vil ville vår være vært å
    """,
    "danish": """
        ad af aldrig alle alt anden at bare begge blev bliver da de dem den denne der deres det
        dette dig din disse dit du efter eller en end er et for fordi fra før gennem ham han hans
        har havde have hen hende her hos hun hvad hvem hver hvilke hvilken hvis hvor hvordan hvorfor
        hvornår i igen ikke ind ingen intet ja jeg jer kan kunne lige man mange med meget mellem men
        mere mig min mine mit mod må ned nej noget nogle nok nu når og også om op os over på samme
        selv sig sin sine sit skal skulle som sådan til ud uden under var ved vi vil ville vor være
        været
    """,
    "finnish": """
        ei eivät eli emme en enemmän ennen ensi et ettei että he heidän heille heitä hyvin hän
        häneen hänelle hänen hänet häntä ilman itse ja jo johon joiden joita joka jokainen joko
        jolla jolle jolloin jonka jos joskus jossa josta jota jotka jälkeen kaikki kanssa kautta
        ketkä koska koko koskaan kuin kuinka kuitenkin kuka kun kuten kyllä lisäksi me meidän meille
        meitä mihin mikä mikäli miksi milloin minkä minun minut minä missä mistä miten mitkä mitä
        mukaan muut mutta myös myöskin ne niiden niin niitä niissä noin nyt näiden nämä ole oleva
        olevan oli olin olisi olivat olla olleet ollut on ovat paljon poikki saa se sekä sen siellä
        sillä sinun sinä siihen siinä siis sitten sitä tai tällä tämä tämän tässä tästä tätä vaan
        vai vaikka vain voi vuoksi yli
    """,
    "romanian": """
        a acea aceasta această aceea aceeași acei acel acela acele acelea acest acesta aceste
        acestea acestei acestor acestui acești aceștia acolo acum ai aici al ale am ar are asemenea
        asta astfel atunci au avea aveau avem avut aș așa aţi ba ca care cât câte câți când ce cea
        cei cel cele celor cine cineva conform cu cui cum cărei căror cărui către că da dacă dar de
        deci decât deși din dintre doar după ea ei el ele era erau este eu fi fie fiecare fiind
        foarte fost fără i iar ii il îi îl îmi împotriva în înainte încă între întru își îți la le
        li lor lui mai mea mei mele meu mi mult multe mulți ne nicio nici niște noastră nostru nouă
        noștri nu o oameni ori oricare pe pentru peste poate prin prea printre s sa sale sau se să
        său săi si spre sub sunt sus și ta tale te toate tot totuși toți tu un una unde unei unele
        unii unor unui vă vor voi vom
    """,
    "turkish": """
        acaba ama ancak arada artık asla aslında ayrıca bana bazen bazı belki ben beni benim beri
        bile bir biraz biri birkaç birçok biz bize bizi bizim bu buna bunda bundan bunlar bunları
        bunların bunu bunun burada böyle bütün çok çünkü da daha dahi de defa değil diğer diye
        dolayı en fakat gibi göre hangi hangisi hatta hem henüz hep hepsi her herhangi herkes hiç
        hiçbir için iki ile ilgili ise işte kadar kendi kendine kendini ki kim kimin kimse madem mi
        mı mu mü nasıl ne neden nedenle nerede nereden nereye nesi niçin niye o olan olarak oldu
        olduğu olduğunu olmak olması olsa olup olur on ona ondan onlar onlara onları onların onu
        onun orada oysa pek rağmen sadece sanki sen seni senin siz sizi sizin sonra şayet şey şu
        şuna şunu tarafından tüm üzere üzerinde var ve veya ya yani yerine yine yoksa zaten nelerdir
        nedir kimdir kaç
    """,
    "hungarian": """
        a ahogy ahol aki akik akkor alatt amely amelyek amelyet ami amit amikor amíg annak arra
        arról az azok azon azt aztán azzal azért be belül benne csak de e ebben eddig egy egyes
        egyik egyéb el ellen előtt én ennek ennyi erre ez ezek ezen ezt ezzel ezért fel fog ha hanem
        hogy hogyan hol hova hány ide igen ill illetve ilyen is itt jó kell kellett ki kinek kit
        kívül közben közül között le lehet lenne lesz lett ma maga magát majd már más meg még mely
        melyek melyik mellett mert mi mielőtt miért mikor mind minden mindig mint mit mivel most
        nagyon ne neki nekik nélkül nem nincs ő ők őket olyan onnan oda össze pedig saját se sem
        semmi sok sokkal számára szerint szinte te ti több tovább tud tudott úgy után utána vagy
        vagyok vala valaki valami van vannak vele vissza volt voltak volna által át és így
    """,
    "polish": """
        a aby ale albo am ani aż bardzo bez bo by byli być był była było były będzie będą chce ci co
        coś czego czemu czy czyli dla dlaczego do dwa gdy gdyby gdzie go i ich ile im inne inny
        innych iż ja jak jaka jaki jakie jako je jednak jednym jego jej jemu jest jeszcze jeśli
        jeżeli już ją kiedy kto która które którego której który których którym którzy ku lub ma
        mają mam mi miał mnie mną może można mu my na nad nam nas nasz natomiast nawet nic nie niej
        nich nim niż no o od on ona one oni ono oraz pan po pod podczas pomimo ponieważ poza przed
        przez przy również sam się skąd swoje są ta tak taka taki takie także tam te tego tej temu
        ten to tobie tu twój ty tych tylko tym tys u w wam was we wiele więc wszystkich wszystkie
        wszystko wtedy wy z za zawsze ze że żeby
    """,
    "czech": """
        a aby aj ale ani ano asi až bez bude budou by byl byla byli bylo byly být co což či další do
        ho i já jak jaká jaké jaký jako je jeden jeho jej její jejich jen ještě jestli ji jich jím
        jimi jiné jsem jsi jsme jsou jste již k kam kde kdo kdy když ke kolik která které kterou
        který kteří ku má máme mají mezi mi mimo mne mnou moc mohou můj může my na nad nám námi náš
        naše ne nebo nebyl než nic nich ním není o od on ona oni ono pak po pod podle pokud pouze
        pro proč proto protože před přes při s se si skrz sobě své svůj svých ta tady tak také takže
        tam tato té tedy ten tento tě ti to tohle toho tom tomu tu tuto tvůj ty tyto u už v vám vás
        váš ve více však všechno všichni vy z za zda zde ze že
    """,
    "catalan": """
        a això al algun alguna alguns als altra altre altres amb aquell aquella aquells aquest
        aquesta aquestes aquests aquí cada com contra d de del dels des després doncs el ella elles
        ells els em en encara entre era eren es està estan et fa fer fins foren fou ha han has hem
        hi ho i jo l la les li llur m meu meva molt molta molts més mentre n ni no nosaltres nostra
        nostre o on per perquè però poc pel pels qual quals quan quant que qui quin quina quines
        quins s sa sense ser seu seus seva seves si sobre són sota també tan tant te tenir teu tot
        tota totes tots tu té un una unes uns us va van vostè vosaltres àdhuc és
    """,
    "indonesian": """
        ada adalah agar akan aku anda antara apa apabila apakah atas atau bagaimana bagi bahwa
        banyak beberapa begitu belum berapa bila bisa bukan dalam dan dapat dari daripada demikian
        dengan di dia dimana harus hanya hal hingga ia ini itu jadi jika juga kami kamu kapan karena
        ke kemudian kepada ketika kita lagi lain lalu lebih maka mana masih mengapa mereka merupakan
        namun nya oleh orang pada para pernah pun saat saja sampai sangat saya sebagai sebelum
        sebuah secara sedang sehingga sejak sekarang selain selama semua seorang seperti serta
        setelah setiap siapa sudah suatu supaya tanpa tapi telah tentang terhadap tersebut tetapi
        tidak untuk walaupun yaitu yang
    """,
    "vietnamese": """
        ai bao bằng bị bởi các cái cả cần chỉ cho chưa chúng có còn của cùng cũng do dưới đã đang
        đâu đây để đến đi điều được đó gì giữa hay hoặc hơn khi không là lại lên loại mà mình mỗi
        một nào nên nếu này người nhiều nhưng như những ở qua ra rất rằng rồi sao sau sẽ số tại tất
        tôi theo thì thế trên trong trước từ tới và vào vẫn vì việc với vừa ta
    """,
}

_OTHER: Final = {
    "russian": """
        а без более больше будет будто будут бы был была были было быть в вам вас ваш ведь весь во
        вот все всегда всего всех всю вы г где да даже для до другой другие его ее ей если есть еще
        ж же за зачем здесь и из или им ими имел иногда их к как какая какие каким каких какой
        какого каком какую когда которая которого которое которой которую которые который которых
        кто кого ком кому куда ли либо лишь между меня мне много может можно мой моя мы на над надо
        нам нас наш не него нее ней некоторые нет ни нибудь никогда ним них ничего но ну о об один
        одна одной около он она они оно от перед по под после потом потому почему почти при про раз
        с сам самый свой свою себе себя сейчас сколько со собой спустя так такая также такие такой
        там тебя тем теперь то тоже того той только том тот тогда ту тут ты у уж уже хотя чего чей
        чем через что чтобы чья эта эти этим этих это этого этой этом этот эту я является являются
    """,
    "ukrainian": """
        а або але б без був була були було бути в вам вас вже ви від він вона вони воно все всі де
        для до дуже є ж за з зі його й їй її їм їх із і коли котрий кого кому ким куди ли лише між
        мене мені ми може на навіщо над нам нас наш не нема немає ні ніколи о об один під після по
        при про проти саме свій себе скільки собі та так також там те тебе ти тільки то тобі того
        той тому тоді у це цей ця ці цього цієї чи чий чого чому через ще що щоб як яка яке який які
        якого якої якщо я
    """,
    "greek": """
        ένα ένας έναν έχει έχουν έχω ήδη ήταν ήμουν ή α αλλά αν ανά αντί από απ αυτά αυτές αυτή
        αυτήν αυτής αυτοί αυτό αυτός αυτού αυτούς αυτών αφού για γιατί δε δεν εάν είμαι είναι είτε
        είχε είχαν εγώ εδώ εκεί εκείνο εκείνος εμείς εν ενώ επί επίσης επειδή εσύ εσείς η θα ι καθώς
        και κάθε κάποιος κάποια κατά κι κυρίως λόγω μας μέσα μέσω με μετά μεταξύ μέχρι μη μην μια
        μία μόνο μου να ναι ο οι όλα όλες όλοι όμως όπου όπως όσο όσοι όταν ότι ού ούτε όχι παρά πια
        πιο ποια ποιά ποιες ποιο ποιό ποιοι ποιος ποιός ποιον ποιους πολλά πολλές πολύ που πού πόσα
        πόσες πόση πόσο πόσοι πότε πριν προς πώς πως σαν σας σε στα στη στην στης στις στο στον
        στους συν σου τα τη την της τι τί τις το τον του τους των υπό ως ώστε
    """,
    "armenian": """
        այդ այլ այն այս այստեղ արդեն բայց բոլոր դա դեպի դու ե եթե ես եմ ենք եւ եք է էի էին էինք էիր
        էիք էր ըստ թե թող ի ին իսկ իր իրենց կամ համար հետ հետո մասին մեզ մեկ մեջ մենք մեր մի միայն
        մինչ նա նաեւ նաև նրա նրանք նույն որ որը որի որոնք որպես որտեղ ով ովքեր ոչ ու ում պետք պիտի
        սա սակայն վրա ինչ ինչու ինչպես երբ քանի քան և
    """,
    "hindi": """
        अत अपना अपनी अपने अब अभी आदि आप इत्यादि इन इनका इनकी इनके इन्हें इन्हीं इस इसका इसकी इसके
        इसमें इसी इसे उन उनका उनकी उनके उनको उन्हें उन्होंने उस उसका उसकी उसके उसने उसी उसे एक एवं
        ऐसा ऐसी ऐसे और कब कभी कर करता करती करते करना करने करें कहते कहा कहाँ कहां का काफ़ी कि कितना
        कितनी कितने किन किया किस किसका किसकी किसके किसने किसी किसे की कुछ कुल के को कोई कौन कौनसा
        कौनसी क्या क्यों क्योंकि गई गए गया चाहिए जब जबकि जहाँ जहां जा जाता जाती जाते जाना जाने जिन
        जिनका जिनकी जिनके जिन्हें जिन्होंने जिस जिसका जिसकी जिसके जिसने जिसमें जिसे जैसा जैसी जैसे
        जो तक तब तथा तरह तो था थी थीं थे दिया दी दूसरे दो दोनों द्वारा न नहीं ना नीचे ने पर परंतु
        पहले फिर बहुत बाद बिना भी मगर मुझे मे में मेरा मेरी मेरे मैं यदि यह यहाँ यहां या ये रखें रहा
        रही रहे लिए लिये लेकिन व वग़ैरह वह वहाँ वहां वाला वाली वाले वे वो साथ सब सबसे सभी से सो हम
        हमारा हमारी हमारे ही हुआ हुई हुए हूँ हूं है हैं हो होता होती होते होना होने
    """,
    "nepali": """
        अनि अब अरु अरू आफ्नो उनको उनी उनीहरू उस उसको ऊ एउटा एक कति कसरी कसले कसको कहाँ कहिले का कि
        किन किनभने को कुन कुनै के गरी गरे गरेको गर्छ गर्ने चाहिं छ छन् छु छैन जब जसको जसले जुन जो त
        तथा तपाईं तर तिनी त्यस त्यो थिए थियो देखि द्वारा न नै पछि पनि पर्छ बाट भएको भने भन्ने भयो मा
        मलाई मेरो म यस यसको यसरी यी यो र रहेको लाई लागि ले वा सँग संग सबै साथ सो हरु हरू हाम्रो हामी
        हुन हुने हुन् हुन्छ हो
    """,
    "marathi": """
        असे आणि आता आपण आपल्या आहे आहेत एक एका करून का काय किंवा किती कोण कोणी कोणते कसे केव्हा केली
        केले केला कुठे च जर जे जो ते तर तसेच ती तो त्या त्यांच्या त्याच्या त्यामुळे त्याला दोन नाही
        पण म्हणून म्हणजे मला माझा माझी माझे मी मध्ये या यांनी याच्या ला व वर साठी सर्व ही हा हे होता
        होती होते
    """,
    "tamil": """
        அது அதை அதன் அந்த அவர் அவள் அவன் அவை ஆகிய ஆகும் ஆனால் இது இதை இதன் இந்த இருந்த இருந்து இல்லை
        இவர் இவை உள்ள உள்ளது எங்கு எங்கே எது எதை எத்தனை எந்த எப்படி எப்போது எவ்வளவு என என்பது என்ற
        என்று என்ன ஏன் ஒரு ஓர் கொண்டு தான் நான் நாம் நீ நீங்கள் பற்றி பின் பிறகு போது மட்டும்
        மற்றும் முன் மூலம் மேலும் யார் வரை வேண்டும்
    """,
    "hebrew": """
        אבל או אז איך איפה איזה איזו אחרי אין אך אל אלא אלה אם אנחנו אני את אתה אתם באיזה בין בה בו
        בכל גם הוא היא היה היו היום הייתה הם הן הזה הזאת הנה ועל זאת זה זו יותר יש כאשר כבר כדי כי
        כך כל כמה כמו כן לא לאחר לה לו להיות להם לי לך לכן למה לפני מאוד מה מי מתי מן נגד עד על עוד
        עם פה רק של שלא שלה שלהם שלו שלי שלך שם תחת
    """,
    "arabic": """
        آخر أحد أم أما أن أنا أنت أنه أو أول أي أيضا أين إذ إذا إلا إلى إن إنه التي الذي الذين
        اللذان اللتي اللواتي بعد بعض بل به بها بين تحت تلك تم ثم جدا جميع حتى حول حيث خلال دون ذلك
        سوف ضد ضمن عبر عدم عدة عن عند عندما على عليه عليها غير فقد فقط فوق في فيه فيها قبل قد كان
        كانت كذلك كل كم كما كيف لا لأن لدى لذلك لقد لك لكن لكي لم لماذا لن له لها لهم ليس ليست ما
        ماذا متى مثل مع معه من منذ منه منها مما نحن نحو هذا هذه هل هم هنا هناك هو هي و وقد وكان
        وكانت ولا ولم وما ومن وهو وهي وفي وعلى يكون يمكن
    """,
    "urdu": """
        آپ اب ابھی اس اسے اسی اگر ان انہیں انہوں اور ایسا ایک بعد بھی بہت پر پھر تک تم تو تھا تھی
        تھے جب جس جن جو جیسے دو دیا رہا رہی رہے ساتھ سب سے طرح کا کب کر کس کسی کو کون کوئی کہ کہاں
        کی کیا کیسے کیوں کے گئی گیا گئے لیکن لیے میرا میری میں نہیں نے نہ وہ وہاں ہم ہو ہوا ہوتا
        ہوتی ہوتے ہوں ہوئی ہے ہیں ہی یا یہ یہاں
    """,
    "persian": """
        آن آنان آنها آنچه آیا از است اگر اما او ای این اینکه با باید باشد باشند بر برای بسیار بعد به
        بود بودند بوده بی بین تا تر توسط تو جز چه چرا چطور چند چنین چون چیست حتی خواهد خود در درباره
        دارد دارند داشت داشته دیگر را روی زیر سپس سوی شد شدن شده شما شود طور علیه کجا کدام کرد کردند
        کرده کسی کند کنند که کی ما مانند مگر من می میان نه نمی نیز نیست هر هم همان همه همین هنوز هیچ
        و وی ولی یا یک
    """,
}


LATIN_LANGUAGES: Final = tuple(_LATIN)
OTHER_LANGUAGES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        scripts.CYRILLIC: ("russian", "ukrainian"),
        scripts.GREEK: ("greek",),
        scripts.ARMENIAN: ("armenian",),
        scripts.HEBREW: ("hebrew",),
        scripts.ARABIC: ("arabic", "persian", "urdu"),
        scripts.DEVANAGARI: ("hindi", "nepali", "marathi"),
        scripts.TAMIL: ("tamil",),
    }
)


@cache
def stop_words(language: str) -> frozenset[str]:
    """The folded stop words of a language named in this module."""
    return frozenset(fold(word) for word in (_LATIN | _OTHER)[language].split())
