import type { Bytes } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import { type Arg, bytes, key, nameAsSent, named, optional, toFloat, toInt, zeroOrMore } from '../command/arguments.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { type ErrorName, invalidPosition, replyError, searchNeedsOne } from '../command/errors.js'
import { workOfMembers } from '../command/memory.js'
import { nilArray, type Reply } from '../command/reply.js'
import { formatCoordinate, formatDistance, parseDouble } from '../command/text.js'
import {
  decodePosition,
  distanceBetween,
  distanceWithin,
  encodePosition,
  geohashText,
  isPosition,
  metresPer,
  type Position,
  type Shape,
  scoreAsInteger,
  searchAreas,
} from '../values/geo-position.js'
import { SortedSet } from '../values/sorted-set-value.js'
import { words } from './collection-arguments.js'
import { addPairs, storeSortedSet, unconditional } from './sorted-set.js'

const member = named('member', bytes)

export const geoCommands: readonly Command[] = [
  command('GEOADD', {
    flags: ['write', 'slow'],
    since: '3.2.0',
    args: [key('W'), words('[NX | XX] [CH] longitude latitude member [longitude latitude member …]', 3)],
    work: (_db, _key, given) => workOfMembers(given.length / 3),
    run({ db }, key, given) {
      const condition = { ...unconditional }
      let at = 0
      for (; at < given.length; at++) {
        const option = given[at]!.toLowerCase()
        if (option !== 'nx' && option !== 'xx' && option !== 'ch') break
        condition[option] = true
      }
      if ((given.length - at) % 3 !== 0 || (condition.nx && condition.xx)) throw replyError('syntax')
      const pairs = []
      for (; at < given.length; at += 3) {
        pairs.push({ score: encodePosition(toPosition(given[at]!, given[at + 1]!)), member: given[at + 2]! })
      }
      // Redis passes the pairs on to ZADD, which rejects an empty list.
      if (pairs.length === 0) throw replyError('syntax')
      return addPairs(db, key, pairs, condition)
    },
  }),

  positions('GEOPOS', positionReply, nilArray),
  positions('GEOHASH', geohashText, null),

  command('GEODIST', {
    flags: ['read', 'slow'],
    since: '3.2.0',
    args: [key('R'), member, member, optional(named('M | KM | FT | MI', bytes))],
    run({ db }, key, from, to, unit) {
      const metres = unit === undefined ? 1 : toUnit(unit)
      const set = db.container(key, SortedSet)
      const [a, b] = [set?.score(from), set?.score(to)]
      if (a === undefined || b === undefined) return null
      return formatDistance(distanceBetween(decodePosition(a), decodePosition(b)) / metres)
    },
  }),

  command('GEOSEARCH', {
    flags: ['read', 'slow'],
    since: '6.2.0',
    args: [nameAsSent, key('R'), words(searchUsage('[WITHCOORD] [WITHDIST] [WITHHASH]'), 5)],
    run(context, command, key, given) {
      const set = context.db.container(key, SortedSet)
      const search = newSearch({ command })
      readOptions(search, given, set)
      return answer(search, set, context)
    },
  }),

  command('GEOSEARCHSTORE', {
    flags: ['write', 'slow'],
    since: '6.2.0',
    args: [nameAsSent, key('W'), key('R'), words(searchUsage('[STOREDIST]'), 5)],
    run(context, command, destination, source, given) {
      const set = context.db.container(source, SortedSet)
      const search = newSearch({ command, destination })
      readOptions(search, given, set)
      return answer(search, set, context)
    },
  }),

  radius('GEORADIUS', 'position', true),
  radius('GEORADIUS_RO', 'position', false),
  radius('GEORADIUSBYMEMBER', 'member', true),
  radius('GEORADIUSBYMEMBER_RO', 'member', false),
]

/**
 * Declares a command that replies with one item per member: the result of `show` for its position, or `missing` if
 * there is no such member.
 */
function positions(name: string, show: (position: Position) => Reply, missing: Reply): Command {
  return command(name, {
    flags: ['read', 'slow'],
    since: '3.2.0',
    args: [key('R'), zeroOrMore(member)],
    run({ db }, key, members) {
      const set = db.container(key, SortedSet)
      return members.map((member) => {
        const score = set?.score(member)
        return score === undefined ? missing : show(decodePosition(score))
      })
    },
  })
}

/**
 * Declares GEORADIUS or a variant of it. Center and radius are the first arguments, and there are no boxes. All
 * variants except the read-only ones can store the result in a key.
 */
function radius(name: string, from: 'position' | 'member', mayStore: boolean): Command {
  const center = from === 'position' ? 2 : 1
  const usage = `${from === 'position' ? 'longitude latitude' : 'member'} radius M | KM | FT | MI`
  const store = mayStore ? ' [STORE key | STOREDIST key]' : ''
  const options = `[WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC]${store}`
  const given = words(`${usage} ${options}`, center + 2)
  return command(name, {
    flags: [mayStore ? 'write' : 'read', 'slow'],
    since: mayStore ? '3.2.0' : '3.2.10',
    args: [key('R'), mayStore ? withStoreKeys(given) : given],
    run(context, key, given) {
      const set = context.db.container(key, SortedSet)
      const search = newSearch({ command: name, older: true, mayStore })
      if (from === 'position') search.center = toPosition(given[0]!, given[1]!)
      else if (set !== undefined) search.center = positionOf(set, given[0]!)
      // If the key is missing, the member has no position. In this case redis does not parse the radius.
      if (search.center !== undefined) readRadius(search, [given[center]!, given[center + 1]!])
      readOptions(search, given.slice(center + 2), set)
      return answer(search, set, context)
    },
  })
}

/** Returns a parser that also records the key after STORE, because access rules apply to this key as well. */
function withStoreKeys(arg: Arg<Bytes[]>): Arg<Bytes[]> {
  return {
    ...arg,
    read(from) {
      const given = arg.read(from)
      given.forEach((word, at) => {
        const next = given[at + 1]
        if (next !== undefined && /^STORE(DIST)?$/i.test(word)) from.names?.keys.push({ name: next, use: 'W' })
      })
      return given
    },
  }
}

function searchUsage(last: string): string {
  const where = '[FROMMEMBER member | FROMLONLAT longitude latitude]'
  const shape = '[BYRADIUS radius M | KM | FT | MI | BYBOX width height M | KM | FT | MI]'
  return `${where} ${shape} [ASC | DESC] [COUNT count [ANY]] ${last}`
}

// ---- parsing ----------------------------------------------------------------------------------------------------

function toPosition(longitude: Bytes, latitude: Bytes): Position {
  const position = { longitude: toFloat(longitude), latitude: toFloat(latitude) }
  if (!isPosition(position)) throw invalidPosition(position.longitude, position.latitude)
  return position
}

/** Returns the meters of a unit. */
function toUnit(word: Bytes): number {
  const unit = word.toLowerCase()
  if (!Object.hasOwn(metresPer, unit)) throw replyError('unit')
  return metresPer[unit as keyof typeof metresPer]
}

function toLength(word: Bytes, error: ErrorName): number {
  const length = parseDouble(word)
  if (length === undefined) throw replyError(error)
  return length
}

function positionOf(set: SortedSet, member: Bytes): Position {
  const score = set.score(member)
  if (score === undefined) throw replyError('memberNotDecodable')
  return decodePosition(score)
}

/** Arguments of one search. They are parsed in the same order as in redis, so that the same error is reported first. */
interface Search {
  /** Name of the command as it was sent. */
  readonly command: string
  /** Whether the command is GEORADIUS or a variant of it, with center and radius before the options. */
  readonly older: boolean
  readonly mayStore: boolean
  /** Option that gives the center: `member` for FROMMEMBER, `position` for FROMLONLAT. */
  from: 'member' | 'position' | undefined
  center: Position | undefined
  outline: { kind: 'circle'; radius: number } | { kind: 'box'; width: number; height: number } | undefined
  /** Meters in one unit of the request, such as 1000 for KM. */
  metres: number
  withDist: boolean
  withHash: boolean
  withCoord: boolean
  order: 'asc' | 'desc' | undefined
  count: number
  any: boolean
  destination: Bytes | undefined
  storeDist: boolean
}

function newSearch(given: Pick<Search, 'command'> & Partial<Search>): Search {
  return {
    older: false,
    mayStore: false,
    from: undefined,
    center: undefined,
    outline: undefined,
    metres: 1,
    withDist: false,
    withHash: false,
    withCoord: false,
    order: undefined,
    count: 0,
    any: false,
    destination: undefined,
    storeDist: false,
    ...given,
  }
}

function readRadius(search: Search, [radius, unit]: readonly Bytes[]): void {
  const length = toLength(radius!, 'radiusNotNumber')
  if (length < 0) throw replyError('negativeRadius')
  search.metres = toUnit(unit!)
  search.outline = { kind: 'circle', radius: length }
}

function readBox(search: Search, [widthWord, heightWord, unit]: readonly Bytes[]): void {
  const width = toLength(widthWord!, 'widthNotNumber')
  const height = toLength(heightWord!, 'heightNotNumber')
  if (width < 0 || height < 0) throw replyError('negativeBox')
  search.metres = toUnit(unit!)
  search.outline = { kind: 'box', width, height }
}

interface SearchOption {
  /** Number of arguments after the keyword. */
  readonly takes: number
  /** Returns whether the keyword is valid in this search. An invalid keyword is a syntax error. */
  readonly fits?: (search: Search) => boolean
  readonly read: (search: Search, words: readonly Bytes[], set: SortedSet | undefined) => void
}

function sets(change: Partial<Search>): SearchOption {
  return {
    takes: 0,
    read(search) {
      Object.assign(search, change)
    },
  }
}

const searchOptions: Readonly<Record<string, readonly SearchOption[]>> = {
  WITHDIST: [sets({ withDist: true })],
  WITHHASH: [sets({ withHash: true })],
  WITHCOORD: [sets({ withCoord: true })],
  ANY: [sets({ any: true })],
  ASC: [sets({ order: 'asc' })],
  DESC: [sets({ order: 'desc' })],
  COUNT: [
    {
      takes: 1,
      read(search, [count]) {
        search.count = toInt(count!)
        if (search.count <= 0) throw replyError('countAboveZero')
      },
    },
  ],
  FROMMEMBER: [
    {
      takes: 1,
      fits: (search) => !search.older && search.from !== 'position',
      read(search, [member], set) {
        search.from = 'member'
        if (set !== undefined) search.center = positionOf(set, member!)
      },
    },
  ],
  FROMLONLAT: [
    {
      takes: 2,
      fits: (search) => !search.older && search.from !== 'member',
      read(search, [longitude, latitude]) {
        search.center = toPosition(longitude!, latitude!)
        search.from = 'position'
      },
    },
  ],
  BYRADIUS: [{ takes: 2, fits: (search) => !search.older && search.outline?.kind !== 'box', read: readRadius }],
  BYBOX: [{ takes: 3, fits: (search) => !search.older && search.outline?.kind !== 'circle', read: readBox }],
  STORE: [
    {
      takes: 1,
      fits: (search) => search.mayStore,
      read(search, [destination]) {
        search.destination = destination
        search.storeDist = false
      },
    },
  ],
  STOREDIST: [
    {
      takes: 1,
      fits: (search) => search.mayStore,
      read(search, [destination]) {
        search.destination = destination
        search.storeDist = true
      },
    },
    { ...sets({ storeDist: true }), fits: (search) => !search.older && search.destination !== undefined },
  ],
}

function readOptions(search: Search, given: readonly Bytes[], set: SortedSet | undefined): void {
  for (let at = 0; at < given.length; ) {
    const left = given.length - at - 1
    const meanings = searchOptions[given[at]!.toUpperCase()] ?? []
    const option = meanings.find(({ takes, fits }) => takes <= left && (fits?.(search) ?? true))
    if (option === undefined) throw replyError('syntax')
    option.read(search, given.slice(at + 1, at + 1 + option.takes), set)
    at += 1 + option.takes
  }
}

function checkConflicts(search: Search): void {
  const { command, older, from, outline, destination, withDist, withHash, withCoord } = search
  if (destination !== undefined && (withDist || withHash || withCoord)) {
    throw replyError(older ? 'storeInRadius' : 'storeInSearch')
  }
  if (!older && from === undefined) throw searchNeedsOne('FROMMEMBER or FROMLONLAT', command)
  if (!older && outline === undefined) throw searchNeedsOne('BYRADIUS and BYBOX', command)
  if (search.any && search.count === 0) throw replyError('anyWithoutCount')
}

// ---- searching --------------------------------------------------------------------------------------------------

/**
 * Units of work for computing the distance of one member, and possibly sorting and returning the member.
 * `unitsPerInsertion` is for storing one member in the result.
 */
const unitsPerPosition = 24
const unitsPerInsertion = 24
/** Units of work for each part of a member in the reply. */
const unitsOf = { row: 4, distance: 12, hash: 8, coordinates: 48 } as const

interface Found {
  readonly member: Bytes
  readonly score: number
  /** Distance in the unit of the request. */
  readonly distance: number
}

function answer(search: Search, set: SortedSet | undefined, { db }: CommandContext): Reply {
  checkConflicts(search)
  const { destination } = search
  const found = set === undefined ? [] : selected(search, set, db.work)
  if (destination !== undefined) db.work.charge(unitsPerInsertion * found.length)
  if (destination === undefined) {
    db.work.charge(unitsPerReply(search) * found.length)
    return found.map((item) => foundReply(search, item))
  }
  const result = new SortedSet()
  for (const { member, score, distance } of found) result.set(member, search.storeDist ? distance : score)
  return storeSortedSet(db, destination, result, search.older ? 'georadiusstore' : 'geosearchstore')
}

/**
 * Returns the found members: at most COUNT, in the requested order. If COUNT is given without an order, returns the
 * nearest members, unless ANY is set.
 */
function selected(search: Search, set: SortedSet, work: Work): Found[] {
  const { count, any } = search
  const order = search.order ?? (count > 0 && !any ? 'asc' : undefined)
  const found = allWithin(search, set, work, any ? count : Number.POSITIVE_INFINITY)
  if (order !== undefined) {
    const sign = order === 'asc' ? 1 : -1
    found.sort((a, b) => sign * (a.distance - b.distance))
  }
  return count > 0 ? found.slice(0, count) : found
}

function allWithin({ center, outline, metres }: Search, set: SortedSet, work: Work, limit: number): Found[] {
  const found: Found[] = []
  const shape = inMetres(center!, outline!, metres)
  for (const { min, max } of searchAreas(shape)) {
    if (found.length >= limit) break
    const { from, to } = set.scoreRanks({ min, minExclusive: false, max, maxExclusive: true })
    work.charge(unitsPerPosition * Math.max(to - from, 0))
    set.walk(from, to, false, (member, score) => {
      if (found.length >= limit) return
      const distance = distanceWithin(shape, decodePosition(score))
      if (distance !== undefined) found.push({ member, score, distance: distance / metres })
    })
  }
  return found
}

function inMetres(center: Position, outline: NonNullable<Search['outline']>, metres: number): Shape {
  return outline.kind === 'circle'
    ? { kind: 'circle', center, radius: outline.radius * metres }
    : { kind: 'box', center, width: outline.width * metres, height: outline.height * metres }
}

function unitsPerReply({ withDist, withHash, withCoord }: Search): number {
  if (!withDist && !withHash && !withCoord) return 0
  const parts = [withDist && unitsOf.distance, withHash && unitsOf.hash, withCoord && unitsOf.coordinates]
  return parts.reduce<number>((sum, units) => sum + Number(units), unitsOf.row)
}

/**
 * Returns the reply for one found member: only its name, or a list of its name and the requested distance, hash and
 * position. [store.md 3.4]
 */
function foundReply({ withDist, withHash, withCoord }: Search, { member, score, distance }: Found): Reply {
  if (!withDist && !withHash && !withCoord) return member
  const row: Reply[] = [member]
  if (withDist) row.push(formatDistance(distance))
  if (withHash) row.push(scoreAsInteger(score))
  if (withCoord) row.push(positionReply(decodePosition(score)))
  return row
}

function positionReply({ longitude, latitude }: Position): Reply {
  return [formatCoordinate(longitude), formatCoordinate(latitude)]
}
