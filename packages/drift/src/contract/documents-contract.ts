import type { Case } from '../case.js'
import { cases } from '../command-cases.js'

export const jsonCases: readonly Case[] = cases(
  'JSON',
  String.raw`
  # documents
  JSON.SET @j $ '{"a":1,"b":{"c":[1,2,3]},"s":"text","t":true,"n":null,"f":1.5}'
  JSON.GET @j
  JSON.GET @j $
  JSON.GET @j $.b.c
  JSON.GET @j .b.c
  JSON.GET @j $.a $.s
  JSON.GET @j $.none
  JSON.GET @j .none
  JSON.GET @missing $
  JSON.GET @j INDENT "  " NEWLINE "\n" SPACE " " $.b
  JSON.SET @j $.a 2
  JSON.SET @j $.new '"x"'
  JSON.SET @j $.new '"y"' NX
  JSON.SET @j $.none '"y"' XX
  JSON.SET @fresh $.a 1
  JSON.SET @j $ '{broken'
  JSON.SET @j $
  JSON.TYPE @j $
  JSON.TYPE @j $.*
  JSON.TYPE @j .s
  JSON.TYPE @missing $
  TYPE @j
  JSON.MSET @m1 $ '{"a":1}' @m2 $ '{"a":2}'
  JSON.MGET @m1 @m2 @missing $.a
  JSON.MERGE @m1 $ '{"a":null,"b":{"c":1}}'
  JSON.GET @m1
  SET @str v
  JSON.GET @str $
  JSON.SET @str $ 1
  GET @j
  # order of nested matches
  JSON.SET @j $ '{"a":2,"b":3,"nested":{"a":4,"b":null}}'
  JSON.GET @j $..a
  JSON.GET @j $..b
  JSON.NUMINCRBY @j $..a 1
  # numbers, texts, booleans
  JSON.SET @j $ '{"n":1,"f":1.5,"s":"ab","t":true,"o":{"x":1},"l":[1]}'
  JSON.NUMINCRBY @j $.n 4
  JSON.NUMINCRBY @j .n 4
  JSON.NUMINCRBY @j $.s 1
  JSON.NUMINCRBY @j .s 1
  JSON.NUMINCRBY @j $.f 0.1
  JSON.NUMMULTBY @j $.n 2
  JSON.NUMINCRBY @missing $.n 1
  JSON.NUMINCRBY @j $.n abc
  JSON.STRAPPEND @j $.s '"cd"'
  JSON.STRAPPEND @j $.n '"cd"'
  JSON.STRAPPEND @missing $.s '"x"'
  JSON.STRLEN @j $.s
  JSON.STRLEN @j $.n
  JSON.STRLEN @missing $.s
  JSON.TOGGLE @j $.t
  JSON.TOGGLE @j .t
  JSON.TOGGLE @j $.n
  JSON.TOGGLE @missing $.t
  JSON.OBJKEYS @j $.o
  JSON.OBJKEYS @j $.n
  JSON.OBJKEYS @missing $
  JSON.OBJLEN @j $
  JSON.OBJLEN @j $.n
  JSON.CLEAR @j $.o
  JSON.CLEAR @j $.n
  JSON.CLEAR @missing $
  JSON.DEL @j $.s
  JSON.FORGET @j $.none
  JSON.DEL @missing
  JSON.RESP @j $.l
  JSON.RESP @j
  JSON.RESP @missing
  ~kind JSON.DEBUG MEMORY @j
  ~kind JSON.DEBUG HELP
  JSON.DEL @j
  EXISTS @j
  # lists
  JSON.SET @j $ '{"l":[1,2,3],"s":"x","e":[]}'
  JSON.ARRAPPEND @j $.l 4 '"five"'
  JSON.ARRAPPEND @j $.s 4
  JSON.ARRAPPEND @j .s 4
  JSON.ARRINSERT @j $.l 0 0
  JSON.ARRINSERT @j $.l -1 '"x"'
  JSON.ARRINSERT @j $.l 99 1
  JSON.ARRINDEX @j $.l 2
  JSON.ARRINDEX @j $.l 99
  JSON.ARRINDEX @j $.l 3 0 2
  JSON.ARRINDEX @j $.s 1
  JSON.ARRLEN @j $.l
  JSON.ARRLEN @j $.s
  JSON.ARRLEN @missing $.l
  JSON.ARRPOP @j $.l
  JSON.ARRPOP @j $.l 0
  JSON.ARRPOP @j $.e
  JSON.ARRPOP @missing $.l
  JSON.ARRTRIM @j $.l 1 2
  JSON.ARRTRIM @j $.e 0 1
  JSON.GET @j $.l
  JSON.ARRAPPEND @missing $.l 1
  JSON.ARRAPPEND @j $.l '{broken'
  JSON.ARRTRIM @missing $.l 0 1
`,
)

export const searchCases: readonly Case[] = cases(
  'search',
  `
  # an index over documents
  SEARCH.CREATE @i ON JSON PREFIX 1 {p}doc SCHEMA title TEXT price F64 FAST kind KEYWORD n U64 FAST
  SEARCH.CREATE @i ON JSON PREFIX 1 {p}doc EXISTSOK SCHEMA title TEXT price F64 FAST kind KEYWORD n U64 FAST
  SEARCH.CREATE @i ON JSON PREFIX 1 {p}other SCHEMA title TEXT
  JSON.SET @doc1 $ '{"title":"red laptop","price":10.5,"kind":"a","n":1}'
  JSON.SET @doc2 $ '{"title":"blue phone","price":20,"kind":"b","n":2}'
  JSON.SET @doc3 $ '{"title":"red phone","price":30,"kind":"a","n":3}'
  SEARCH.WAITINDEXING @i
  ... 200
  SEARCH.COUNT @i '{"kind":"a"}'
  SEARCH.COUNT @i '{"price":{"$gt":15}}'
  SEARCH.COUNT @none '{"kind":"a"}'
  ~unordered SEARCH.QUERY @i '{"price":{"$gte":20}}' ORDERBY price NOCONTENT
  SEARCH.QUERY @i '{"n":2}' SELECT 1 title ORDERBY n ASC
  SEARCH.QUERY @i '{"kind":"none"}'
  SEARCH.QUERY @none '{"kind":"a"}'
  SEARCH.QUERY @i '{"kind":"a"}' LIMIT 0 10
  SEARCH.QUERY @i 'broken'
  SEARCH.AGGREGATE @i '{}' '{"total":{"$sum":{"field":"n"}}}'
  SEARCH.AGGREGATE @none '{}' '{"total":{"$sum":{"field":"n"}}}'
  ~kind SEARCH.DESCRIBE @i
  SEARCH.DESCRIBE @none
  SEARCH.ALIASADD @alias @i
  SEARCH.ALIASADD @alias @i
  SEARCH.COUNT @alias '{"kind":"a"}'
  SEARCH.ALIASDEL @alias
  SEARCH.ALIASDEL @alias
  SEARCH.REINDEX @i
  TYPE @i
  SEARCH.DROP @i
  SEARCH.DROP @i
  SEARCH.CREATE @i
  # an index over a stream
  SEARCH.CREATE @i ON STREAM @s SCHEMA title TEXT n U64 FAST kind KEYWORD
  SEARCH.CREATE @i ON STREAM @s EXISTSOK SCHEMA title TEXT n U64 FAST kind KEYWORD
  XADD @s 1-0 title 'red laptop' n 1 kind '["a","b"]'
  XADD @s 2-0 title 'blue phone' n 2 kind b
  XADD @s 3-0 more x
  SEARCH.WAITINDEXING @i
  ... 200
  SEARCH.COUNT @i '{}'
  SEARCH.COUNT @i '{"kind":"b"}'
  SEARCH.QUERY @i '{"n":2}' NOCONTENT ORDERBY n
  SEARCH.AGGREGATE @i '{}' '{"by":{"$composite":{"size":1,"sources":[{"kind":{"$terms":{"field":"kind"}}}]}}}'
  SEARCH.AGGREGATE @i '{"n":9}' '{"total":{"$sum":{"field":"n"}}}'
  XDEL @s 1-0
  SEARCH.WAITINDEXING @i
  ... 200
  SEARCH.COUNT @i '{}'
  SEARCH.DROP @i
  ! DEL @s
  ! SEARCH.ALIASDEL @alias
  ! SEARCH.DROP @i
`,
)

export const vectorCases: readonly Case[] = cases(
  'vector',
  `
  # an index of vectors
  VECTOR.CREATE @v DIM 3 METRIC COSINE
  VECTOR.CREATE @v DIM 3 METRIC COSINE EXISTSOK
  VECTOR.CREATE @v DIM 3 METRIC COSINE
  VECTOR.INFO @v
  VECTOR.INFO @none
  VECTOR.ADD @v a VALUES 3 1 0 0
  VECTOR.ADD @v b BASE64-FP32 AAAAAAAAgD8AAAAA
  VECTOR.ADD @v a VALUES 3 1 0 0
  VECTOR.ADD @v c VALUES 2 1 0
  VECTOR.ADD @none a VALUES 3 1 0 0
  VECTOR.COUNT @v
  VECTOR.COUNT @none
  VECTOR.GET @v a
  VECTOR.GET @v missing
  VECTOR.QUERY @v TOPK 1 VALUES 3 1 0 0
  VECTOR.QUERY @v TOPK 0 VALUES 3 1 0 0
  VECTOR.DEL @v a
  VECTOR.DEL @v a
  TYPE @v
  VECTOR.DROP @v
  VECTOR.DROP @v
  ! VECTOR.DROP @v
`,
)

export const arrayCases: readonly Case[] = cases(
  'array',
  `
  # slots of an array
  ARSET @a 0 a b c
  ARSET @a 1 B
  ARMSET @a 100 x 18446744073709551614 y
  ARGET @a 1
  ARGET @a 5
  ARMGET @a 0 50 100
  ARGETRANGE @a 0 4
  ARGETRANGE @a 4 0
  ARSCAN @a 0 1000
  ARSCAN @a 0 1000 LIMIT 1
  ARCOUNT @a
  ARLEN @a
  ARLEN @none
  ARDEL @a 1 1 7
  ARDELRANGE @a 90 200
  ARSET @a -1 x
  ARINFO @none
  TYPE @a
  ! DEL @a

  # the append cursor and rings
  ARNEXT @none
  ARINSERT @a a b
  ARSEEK @a 10
  ARNEXT @a
  ARINSERT @a c
  ARINFO @a
  ARRING @r 3 1 2 3 4
  ARLASTITEMS @r 2
  ARLASTITEMS @r 2 REV
  ARRING @r 0 x
  ! DEL @a @r

  # values of an array
  ARSET @a 0 apple apricot 3 4.5
  ARGREP @a - + GLOB a* MATCH cot AND WITHVALUES
  ARGREP @a - + RE ^[0-9] EXACT apple LIMIT 2
  ARGREP @a - +
  AROP @a 0 3 SUM
  AROP @a 0 3 USED
  AROP @a 0 3 MATCH apple
  AROP @a 0 1 MIN
  ! DEL @a
`,
)
