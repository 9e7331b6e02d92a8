import { newerSection, type Section, section } from '../support/steps.js'

const ends = [0, 1, 2, 3, 5, 6, 100, -1, -2, -3, -6, -7, -100]
const bitEnds = [0, 1, 5, 7, 8, 9, 23, 47, 48, 100, -1, -8, -9, -47, -48, -49]

/** Returns every combination of two ends, in bytes and in bits. */
function ranges(before: string): string {
  const inBytes = ends.flatMap((start) => ends.map((end) => `${before} ${start} ${end}`))
  const inBits = bitEnds.flatMap((start) => bitEnds.map((end) => `${before} ${start} ${end} BIT`))
  return [...inBytes, ...inBits, ...ends.map((end) => `${before} 1 ${end} BYTE`)].join('\n')
}

const fields = ['u1', 'u8', 'u16', 'u32', 'u63', 'i1', 'i5', 'i8', 'i16', 'i32', 'i64']
const values = [
  '0',
  '1',
  '-1',
  '127',
  '128',
  '-128',
  '-129',
  '255',
  '256',
  '9223372036854775807',
  '-9223372036854775808',
]

/** Returns every width with every overflow rule, for SET and INCRBY. */
function overflows(): string {
  const rows: string[] = []
  for (const field of fields) {
    for (const rule of ['WRAP', 'SAT', 'FAIL']) {
      for (const value of values) {
        // The check of redis-server itself overflows and takes the smallest integer for a large one.
        if (rule === 'SAT' && value === '-9223372036854775808') continue
        rows.push(`BITFIELD k OVERFLOW ${rule} SET ${field} 3 ${value} GET ${field} 3`)
        rows.push(`BITFIELD k OVERFLOW ${rule} INCRBY ${field} 3 ${value}`)
      }
    }
  }
  return rows.join('\n')
}

export const steps: readonly Section[] = [
  section(
    'SETBIT GETBIT',
    String.raw`
    SETBIT b 7 1
    SETBIT b 7 1
    SETBIT b 7 0
    SETBIT b 0 1
    GET b
    STRLEN b
    GETBIT b 0
    GETBIT b 1
    GETBIT b 7
    GETBIT b 1000
    GETBIT missing 0
    SETBIT b 100 0
    STRLEN b
    GET b
    SET s abc
    GETBIT s 0
    GETBIT s 1
    GETBIT s 23
    GETBIT s 24
    SETBIT s 6 1
    GET s
    SET bin "\xff\x00\x80"
    GETBIT bin 7
    GETBIT bin 8
    GETBIT bin 16
    SETBIT zero 15 0
    GET zero
    SET n 1
    SETBIT n 6 1
    INCR n
    GETBIT n 2
    SET t a EX 100
    SETBIT t 0 1
    TTL t
    SETBIT b -1 1
    SETBIT b a 1
    SETBIT b 4294967296 1
    SETBIT b 9223372036854775808 1
    SETBIT b 0 2
    SETBIT b 0 a
    SETBIT b 0 -1
    SETBIT b a 2
    GETBIT b -1
    GETBIT b a
    GETBIT b 4294967295
    GETBIT b 4294967296
    RPUSH l a
    SETBIT l 0 1
    SETBIT l 0 2
    SETBIT l a 1
    GETBIT l 0
    GETBIT l a
    SETBIT
    SETBIT b
    SETBIT b 0
    SETBIT b 0 1 2
    GETBIT
    GETBIT b
    GETBIT b 0 1
    `,
  ),
  section(
    'BITCOUNT',
    `
    SET k foobar
    BITCOUNT k
    BITCOUNT k 0
    BITCOUNT k a 1
    BITCOUNT k 0 a
    BITCOUNT k 0 1 FOO
    BITCOUNT k 0 1 BYTE x
    BITCOUNT k 0 1 bit
    BITCOUNT k 0 1 byte
    BITCOUNT k a b FOO
    BITCOUNT missing
    BITCOUNT missing 0 1
    BITCOUNT missing 0
    BITCOUNT missing a b
    BITCOUNT missing 0 1 FOO
    SET e ""
    BITCOUNT e
    BITCOUNT e 0 -1
    RPUSH l a
    BITCOUNT l
    BITCOUNT l 0
    BITCOUNT l a b
    BITCOUNT
    SETBIT r 1000 1
    BITCOUNT r
    BITCOUNT r 1000 1000 BIT
    BITCOUNT r 999 999 BIT
    `,
  ),
  section('BITCOUNT with every kind of range', `SET k foobar\n${ranges('BITCOUNT k')}`),
  section(
    'BITPOS',
    String.raw`
    SET k "\xff\xf0\x00"
    BITPOS k 0
    BITPOS k 1
    BITPOS k 0 2
    BITPOS k 1 2
    BITPOS k 0 a
    BITPOS k 0 0 a
    BITPOS k 2
    BITPOS k -1
    BITPOS k a
    BITPOS k 0 0 -1 FOO
    BITPOS k 0 0 -1 BIT x
    BITPOS k 0 0 -1 bit
    BITPOS k 0 0 -1 byte
    SET ones "\xff\xff\xff"
    BITPOS ones 0
    BITPOS ones 0 0
    BITPOS ones 0 1
    BITPOS ones 0 0 -1
    BITPOS ones 0 0 2
    BITPOS ones 0 5
    BITPOS ones 0 0 -1 BIT
    BITPOS ones 0 3 20 BIT
    BITPOS ones 1 3 20 BIT
    BITPOS ones 1
    SET zeros "\x00\x00\x00"
    BITPOS zeros 1
    BITPOS zeros 0
    BITPOS zeros 1 0 -1
    BITPOS zeros 0 1
    BITPOS missing 0
    BITPOS missing 1
    BITPOS missing 0 0 -1
    BITPOS missing 1 a b
    BITPOS missing 2
    SET e ""
    BITPOS e 0
    BITPOS e 1
    BITPOS e 0 0
    BITPOS e 0 0 -1
    RPUSH l a
    BITPOS l 0
    BITPOS l 2
    BITPOS l 0 a
    BITPOS
    BITPOS k
    `,
  ),
  section('BITPOS of ones with every kind of range', `SET k "\\x00\\x0f\\xf0\\x00\\xff\\x01"\n${ranges('BITPOS k 1')}`),
  section(
    'BITPOS of zeros with every kind of range',
    `SET k "\\xff\\x0f\\xf0\\xff\\x00\\xff"\n${ranges('BITPOS k 0')}`,
  ),
  section(
    'BITOP',
    String.raw`
    SET a "\xff\x0f\x55"
    SET b "\xf0\xff"
    BITOP AND d a b
    GET d
    BITOP OR d a b
    GET d
    BITOP XOR d a b
    GET d
    BITOP NOT d a
    GET d
    BITOP and d a
    GET d
    BITOP or d a missing b
    GET d
    BITOP and d a missing
    GET d
    BITOP xor d a a
    GET d
    BITOP xor d a b a b a
    GET d
    BITOP NOT d missing
    EXISTS d
    BITOP AND d missing other
    BITOP AND a a b
    GET a
    SET t v EX 100
    BITOP OR t a
    TTL t
    BITOP NOT d a b
    BITOP FOO d a
    BITOP AND d
    BITOP AND
    BITOP
    RPUSH l x
    BITOP AND d l
    BITOP AND d a l
    BITOP NOT d l
    BITOP FOO d l
    BITOP OR l a
    TYPE l
    SET e ""
    BITOP OR e2 e
    EXISTS e2
    `,
  ),
  newerSection(
    'BITOP DIFF DIFF1 ANDOR ONE',
    'store.md 7.1; meaning as redis 8.2 documents it',
    String.raw`
    SET x "\xff\x0f"
    = +OK
    SET y "\xf0\x01"
    = +OK
    SET z "\x0c\x02\xff"
    = +OK
    BITOP DIFF d x y z
    = 3
    GET d
    = "\x03\x0c\x00"
    BITOP DIFF1 d x y z
    = 3
    GET d
    = "\x00\x00\xff"
    BITOP ANDOR d x y z
    = 3
    GET d
    = "\xfc\x03\x00"
    BITOP ONE d x y z
    = 3
    GET d
    = "\x03\x0c\xff"
    BITOP one d x
    = 2
    GET d
    = "\xff\x0f"
    BITOP ONE d x x x
    = 2
    GET d
    = "\x00\x00"
    BITOP DIFF d x
    = -ERR BITOP DIFF must be called with at least two source keys.
    BITOP DIFF1 d x
    = -ERR BITOP DIFF1 must be called with at least two source keys.
    BITOP ANDOR d x
    = -ERR BITOP ANDOR must be called with at least two source keys.
    `,
  ),
  section(
    'BITFIELD',
    `
    BITFIELD k
    BITFIELD k GET u8 0
    EXISTS k
    BITFIELD k SET u8 0 255
    BITFIELD k SET i8 0 -1
    GET k
    BITFIELD k GET u4 0 GET u4 4 GET i8 0 GET u16 0 GET u8 100
    BITFIELD k SET u8 #1 65 SET u8 #2 66 GET u16 #0
    GET k
    BITFIELD k INCRBY u2 100 1 OVERFLOW SAT INCRBY u2 102 1
    BITFIELD k INCRBY u2 100 1 OVERFLOW SAT INCRBY u2 102 1
    BITFIELD k INCRBY u2 100 1 OVERFLOW SAT INCRBY u2 102 1
    BITFIELD k INCRBY u2 100 1 OVERFLOW SAT INCRBY u2 102 1
    BITFIELD k OVERFLOW FAIL INCRBY u2 102 1
    BITFIELD k OVERFLOW fail INCRBY u2 102 1 OVERFLOW wrap INCRBY u2 102 1
    BITFIELD k SET i64 1 -1 GET i64 1 GET u63 2
    BITFIELD k SET u63 1 9223372036854775807
    BITFIELD k get u8 0 set u8 0 1 incrby u8 0 1
    GET k
    BITFIELD f OVERFLOW FAIL SET u4 0 16
    GET f
    BITFIELD f2 OVERFLOW FAIL INCRBY u8 800 256
    STRLEN f2
    BITFIELD k GET u64 0
    BITFIELD k GET i65 0
    BITFIELD k GET u0 0
    BITFIELD k GET i0 0
    BITFIELD k GET x8 0
    BITFIELD k GET 8 0
    BITFIELD k GET u 0
    BITFIELD k GET u8a 0
    BITFIELD k GET u08 0
    BITFIELD k GET U8 0
    BITFIELD k GET u8 -1
    BITFIELD k GET u8 a
    BITFIELD k GET u8 "#"
    BITFIELD k GET u8 #-1
    BITFIELD k GET u8 #a
    BITFIELD k GET u8 4294967295
    BITFIELD k GET u8 4294967296
    BITFIELD k GET u8 #536870911
    BITFIELD k GET u8 #536870912
    BITFIELD k GET u8
    BITFIELD k GET
    BITFIELD k SET u8 0
    BITFIELD k SET u8 0 a
    BITFIELD k SET u8 0 9223372036854775808
    BITFIELD k INCRBY u8 0 a
    BITFIELD k INCRBY u8 0
    BITFIELD k OVERFLOW
    BITFIELD k OVERFLOW FOO
    BITFIELD k OVERFLOW WRAP
    BITFIELD k FOO u8 0
    BITFIELD k FOO
    BITFIELD k GET u8 0 FOO
    BITFIELD k SET u8 0 1 GET u64 0
    GET k
    SET t a EX 100
    BITFIELD t SET u8 0 98
    GET t
    TTL t
    RPUSH l a
    BITFIELD l GET u8 0
    BITFIELD l SET u8 0 1
    BITFIELD l GET u64 0
    BITFIELD l
    BITFIELD
    `,
  ),
  section('BITFIELD with every width and overflow rule', overflows()),
  section(
    'BITFIELD_RO',
    `
    SET k abc
    BITFIELD_RO k GET u8 0 GET i4 #1
    BITFIELD_RO k
    BITFIELD_RO missing GET u8 0
    BITFIELD_RO k SET u8 0 1
    BITFIELD_RO k INCRBY u8 0 1
    BITFIELD_RO k GET u8 0 SET u8 0 1
    BITFIELD_RO k SET u64 0 1
    BITFIELD_RO k OVERFLOW SAT GET u8 0
    BITFIELD_RO k OVERFLOW FOO
    BITFIELD_RO k FOO
    BITFIELD_RO k GET u8
    BITFIELD_RO k SET u8 0 a
    RPUSH l a
    BITFIELD_RO l GET u8 0
    BITFIELD_RO
    `,
  ),
]
