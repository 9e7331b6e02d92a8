import { type Section, section } from '../support/steps.js'

const numbered = (prefix: string, from: number, to: number): string =>
  Array.from({ length: to - from }, (_, at) => `${prefix}${from + at}`).join(' ')

export const steps: readonly Section[] = [
  section(
    'PFADD and PFCOUNT',
    `
    PFADD h a b c
    PFADD h a b c
    PFADD h d
    PFCOUNT h
    PFCOUNT h
    PFADD h
    PFADD empty
    PFADD empty
    GET empty
    PFCOUNT empty
    GET empty
    STRLEN h
    GET h
    PFADD h ""
    PFADD h "\\x00" "\\xff"
    PFCOUNT h
    TYPE h
    PFCOUNT missing
    EXISTS missing
    PFADD
    PFCOUNT
    EXPIRE h 100
    PFADD h new
    TTL h
    `,
  ),
  section(
    'strings that are no counters',
    `
    SET s v
    PFADD s a
    PFCOUNT s
    PFMERGE s
    PFMERGE d s
    PFCOUNT s missing
    RPUSH l a
    PFADD l a
    PFCOUNT l
    PFMERGE l
    PFMERGE d l
    PFCOUNT missing l
    SET n 12345
    PFADD n a
    SET short HYLL
    PFCOUNT short
    SET other "HYLL\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x7f\\xff"
    PFCOUNT other
    SET dense "HYLL\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00"
    PFCOUNT dense
    SET damaged "HYLL\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x80"
    PFCOUNT damaged
    PFADD damaged a
    PFCOUNT damaged h
    PFMERGE d damaged
    SET cached "HYLL\\x01\\x00\\x00\\x00\\x07\\x01\\x00\\x00\\x00\\x00\\x00\\x00"
    PFCOUNT cached
    EXISTS d
    `,
  ),
  section(
    'a copied counter goes on',
    `
    PFADD h a b c
    SET copy "HYLL\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x80\\x7f\\xff"
    PFADD copy a b c
    PFCOUNT copy
    GET copy
    GET h
    APPEND h x
    PFCOUNT h
    `,
  ),
  section(
    'PFMERGE and PFCOUNT of several',
    `
    PFADD a 1 2 3 4
    PFADD b 3 4 5 6
    PFCOUNT a b
    PFCOUNT a missing
    PFCOUNT missing nope
    PFMERGE d a b
    PFCOUNT d
    GET d
    PFMERGE d
    PFCOUNT d
    PFMERGE new
    EXISTS new
    PFCOUNT new
    GET new
    PFMERGE a missing
    PFCOUNT a
    PFMERGE a b a
    PFCOUNT a
    GET a
    EXPIRE a 100
    PFMERGE a b
    TTL a
    PFMERGE
    `,
  ),
  section(
    'PFDEBUG PFSELFTEST',
    `
    PFDEBUG ENCODING h
    PFDEBUG NOSUCH h
    PFADD h a b c
    PFDEBUG ENCODING h
    PFDEBUG DECODE h
    PFDEBUG NOSUCH h
    PFADD more ${numbered('x', 0, 200)}
    PFDEBUG DECODE more
    pfdebug todense h
    PFDEBUG TODENSE h
    PFDEBUG DECODE h
    PFDEBUG ENCODING h
    PFCOUNT h
    GET h
    SET s v
    PFDEBUG ENCODING s
    LPUSH l 1
    PFDEBUG ENCODING l
    PFDEBUG ENCODING
    PFDEBUG ENCODING h x
    PFSELFTEST
    PFSELFTEST x
    `,
  ),
  section(
    'from sparse to dense',
    `
    PFADD h ${numbered('x', 0, 200)}
    STRLEN h
    PFCOUNT h
    PFADD h ${numbered('x', 100, 700)}
    STRLEN h
    PFCOUNT h
    PFADD h ${numbered('x', 700, 2000)}
    STRLEN h
    PFCOUNT h
    PFADD small a b
    PFMERGE small h
    STRLEN small
    PFCOUNT small
    PFCOUNT small h
    PFADD other ${numbered('y', 0, 900)}
    STRLEN other
    PFMERGE both h other
    STRLEN both
    PFCOUNT both
    PFCOUNT h other
    GET both
    `,
  ),
]
