import { createRandom } from '../../src/kernel/random.js'

/** Returns commands about two streams and two groups, the same ones for the same seed; some are deliberately wrong. */
export function randomStreamRows(seed: string, count: number): string[] {
  const random = createRandom(seed)
  const pick = <T>(items: readonly T[]): T => items[random.int(items.length)]!
  const sometimes = (outOf: number, ...words: string[]): string[] => (random.chance(1, outOf) ? words : [])
  let top = 0
  const key = () => pick(['s', 's', 's', 't', 'none', 'str'])
  const group = () => pick(['g', 'g', 'h', 'nobody'])
  const consumer = () => pick(['alice', 'bob', 'carl'])
  const known = () => `${random.int(top + 2)}-${pick(['0', '1', '1', '2'])}`
  const odd = () =>
    pick(['$', '-', '+', '*', 'x', '5-', '-5', '18446744073709551616', '007-01', '(3', '9007199254740993'])
  const id = () => (random.chance(1, 15) ? odd() : random.chance(1, 3) ? String(random.int(top + 3)) : known())
  const end = () => (random.chance(1, 5) ? `(${known()}` : random.chance(1, 4) ? pick(['-', '+']) : id())
  const after = () => {
    const word = id()
    return word === '+' ? '-' : word // XREAD accepts `+` only from redis 7.4 on, which is newer than the compared server.
  }
  const number = () => (random.chance(1, 15) ? pick(['-1', 'x', '0']) : String(random.int(6)))
  const idle = () => pick(['0', '0', '0', '-1', '9999999', 'x'])
  const trim = () => [
    pick(['MAXLEN', 'MINID']),
    ...sometimes(3, '='),
    random.chance(1, 2) ? String(random.int(9)) : known(),
  ]
  const newId = () => `${++top}-${pick(['0', '1', '1', '2', '*'])}`
  const kinds: (() => string[])[] = [
    () => ['XADD', pick(['s', 't']), newId(), 'f', number()],
    () => ['XADD', pick(['s', 't']), newId(), 'f', number(), 'g', number()],
    () => [
      'XADD',
      key(),
      ...sometimes(6, 'NOMKSTREAM'),
      ...(random.chance(1, 5) ? trim() : []),
      known(),
      'f',
      number(),
    ],
    () => ['XDEL', key(), known(), ...sometimes(2, id())],
    () => ['XTRIM', key(), ...trim()],
    () => ['XRANGE', key(), end(), end(), ...sometimes(2, 'COUNT', number())],
    () => ['XREVRANGE', key(), end(), end(), ...sometimes(2, 'COUNT', number())],
    () => ['XREAD', ...sometimes(2, 'COUNT', number()), 'STREAMS', 's', 't', after(), after()],
    () => ['XGROUP', 'CREATE', pick(['s', 't']), pick(['g', 'h']), pick(['0', '$', known()]), 'MKSTREAM'],
    () => ['XGROUP', 'SETID', key(), group(), pick(['0', '$', known()]), ...sometimes(3, 'ENTRIESREAD', number())],
    () => ['XGROUP', pick(['CREATECONSUMER', 'CREATECONSUMER', 'DELCONSUMER']), key(), group(), consumer()],
    () => (random.chance(1, 4) ? ['XGROUP', 'DESTROY', key(), group()] : ['XLEN', key()]),
    () => [
      'XREADGROUP',
      'GROUP',
      group(),
      consumer(),
      ...sometimes(2, 'COUNT', number()),
      'STREAMS',
      key(),
      pick(['>', '>', id()]),
    ],
    () => ['XREADGROUP', 'GROUP', pick(['g', 'h']), consumer(), 'COUNT', '2', 'STREAMS', 's', '>'],
    () => ['XACK', key(), group(), known(), known(), known()],
    () => ['XPENDING', key(), group()],
    () => [
      '~times',
      'XPENDING',
      key(),
      group(),
      ...sometimes(4, 'IDLE', idle()),
      end(),
      end(),
      number(),
      ...sometimes(3, consumer()),
    ],
    () => ['~times', 'XINFO', 'CONSUMERS', key(), group()],
    () => ['~times', 'XINFO', 'STREAM', key(), 'FULL', 'COUNT', number()],
    () => [
      'XCLAIM',
      key(),
      group(),
      consumer(),
      idle(),
      known(),
      known(),
      ...sometimes(3, 'FORCE'),
      ...sometimes(4, 'JUSTID'),
    ],
    () => ['XCLAIM', key(), pick(['g', 'h']), consumer(), '0', known(), 'RETRYCOUNT', number(), 'LASTID', known()],
    () => [
      'XAUTOCLAIM',
      key(),
      group(),
      consumer(),
      idle(),
      end(),
      ...sometimes(2, 'COUNT', number()),
      ...sometimes(4, 'JUSTID'),
    ],
    () => ['XINFO', 'GROUPS', pick(['s', 's', 't'])],
    () => ['XSETID', key(), id(), ...sometimes(3, 'ENTRIESADDED', number()), ...sometimes(3, 'MAXDELETEDID', id())],
  ]
  const rows = ['SET str x', 'XGROUP CREATE s g 0 MKSTREAM']
  while (rows.length < count) rows.push(pick(kinds)().join(' '))
  return rows
}
