/**
 * Positions on earth as sorted-set scores: 52-bit geohashes, distances and search areas. All values are computed as in
 * redis 7.0, so that results are the same, and the order of unsorted results as well.
 */
import type { Bytes } from '../../kernel/bytes.js'
import { asin, cos, sin } from '../../kernel/portable-math.js'

export interface Position {
  readonly longitude: number
  readonly latitude: number
}

const longitudeLimit = 180
/** Limit of web maps; redis rejects positions nearer to the poles. */
const latitudeLimit = 85.05112878
const earthRadius = 6372797.560856
/** Half the circumference of the earth in the Mercator projection, in meters. This is the width of a cell of step 1. */
const mercatorReach = 20037726.37
const deepestStep = 26
const degree = Math.PI / 180

/** Meters per unit. */
export const metresPer = { m: 1, km: 1000, ft: 0.3048, mi: 1609.34 } as const

export function isPosition({ longitude, latitude }: Position): boolean {
  return Math.abs(longitude) <= longitudeLimit && Math.abs(latitude) <= latitudeLimit
}

// ---- hashes -----------------------------------------------------------------------------------------------------

/**
 * Cell of a grid. The grid divides the earth in halves `step` times in each direction. Columns count from the west,
 * rows from the south.
 */
interface Cell {
  readonly column: number
  readonly row: number
  readonly step: number
}

/** Returns the 52-bit hash that a sorted set stores as the score. */
export function encodePosition(position: Position): number {
  return interleave(cellOf(position, deepestStep, latitudeLimit))
}

/** Returns the center of the hash's cell. */
export function decodePosition(score: number): Position {
  const { west, east, south, north } = edgesOf(cellOfHash(score))
  return {
    longitude: clamp((west + east) / 2, longitudeLimit),
    latitude: clamp((south + north) / 2, latitudeLimit),
  }
}

function cellOfHash(score: number): Cell {
  const hash = score < 2 ** 63 ? scoreAsInteger(score) : 0
  if (typeof hash === 'bigint' || hash < 0) return cellOfHash64(BigInt.asUintN(64, BigInt(hash)))
  const upper = Math.floor(hash / 2 ** 26)
  const lower = hash % 2 ** 26
  return {
    column: gatherBits(upper >>> 1) * 2 ** 13 + gatherBits(lower >>> 1),
    row: gatherBits(upper) * 2 ** 13 + gatherBits(lower),
    step: deepestStep,
  }
}

/**
 * Returns the score as WITHHASH shows it. GEOADD creates only integers. A value beyond 64 bits becomes the smallest
 * 64-bit integer.
 */
export function scoreAsInteger(score: number): number | bigint {
  return Math.abs(score) < 2 ** 63 ? Math.trunc(score) : -(2n ** 63n)
}

/** Returns the cell of a 64-bit score. A negative score, which GEOADD does not create, counts as an unsigned number. */
function cellOfHash64(hash: bigint): Cell {
  const upper = Number(hash >> 32n)
  const lower = Number(hash & 0xffff_ffffn)
  return {
    column: gatherBits(upper >>> 1) * 2 ** 16 + gatherBits(lower >>> 1),
    row: gatherBits(upper) * 2 ** 16 + gatherBits(lower),
    step: deepestStep,
  }
}

const geohashAlphabet = '0123456789bcdefghjkmnpqrstuvwxyz'

/**
 * Returns the usual geohash of 11 characters, whose grid spans all latitudes from pole to pole. The last character is
 * always `0`.
 */
export function geohashText(position: Position): Bytes {
  const bits = BigInt(interleave(cellOf(position, deepestStep, 90)))
  let text = ''
  for (let at = 0; at < 10; at++) text += geohashAlphabet[Number((bits >> BigInt(47 - at * 5)) & 31n)]
  return `${text}0` as Bytes
}

function cellOf({ longitude, latitude }: Position, step: number, northernLimit: number): Cell {
  const cells = 2 ** step
  return {
    column: Math.floor(((longitude + longitudeLimit) / (2 * longitudeLimit)) * cells) % 2 ** 32,
    row: Math.floor(((latitude + northernLimit) / (2 * northernLimit)) * cells) % 2 ** 32,
    step,
  }
}

function edgesOf({ column, row, step }: Cell): { west: number; east: number; south: number; north: number } {
  const cells = 2 ** step
  const width = 2 * longitudeLimit
  const height = 2 * latitudeLimit
  return {
    west: -longitudeLimit + (column / cells) * width,
    east: -longitudeLimit + ((column + 1) / cells) * width,
    south: -latitudeLimit + (row / cells) * height,
    north: -latitudeLimit + ((row + 1) / cells) * height,
  }
}

function clamp(value: number, limit: number): number {
  return Math.max(-limit, Math.min(limit, value))
}

/** Interleaves bits: the bits of the row are at even positions, the bits of the column at odd positions. */
function interleave({ column, row }: Cell): number {
  const upper = spreadBits(Math.floor(row / 2 ** 13)) + spreadBits(Math.floor(column / 2 ** 13)) * 2
  return upper * 2 ** 26 + spreadBits(row & 0x1fff) + spreadBits(column & 0x1fff) * 2
}

function spreadBits(value: number): number {
  let bits = value
  bits = (bits | (bits << 8)) & 0x00ff00ff
  bits = (bits | (bits << 4)) & 0x0f0f0f0f
  bits = (bits | (bits << 2)) & 0x33333333
  return (bits | (bits << 1)) & 0x55555555
}

function gatherBits(value: number): number {
  let bits = value & 0x55555555
  bits = (bits | (bits >>> 1)) & 0x33333333
  bits = (bits | (bits >>> 2)) & 0x0f0f0f0f
  bits = (bits | (bits >>> 4)) & 0x00ff00ff
  return (bits | (bits >>> 8)) & 0xffff
}

// ---- distances --------------------------------------------------------------------------------------------------

/** Returns the great-circle distance in meters. */
export function distanceBetween(a: Position, b: Position): number {
  const across = sin((b.longitude * degree - a.longitude * degree) / 2)
  if (across === 0) return alongMeridian(a.latitude, b.latitude)
  const latitudeA = a.latitude * degree
  const latitudeB = b.latitude * degree
  const up = sin((latitudeB - latitudeA) / 2)
  const haversine = up * up + cosineOfFirst(latitudeA) * cos(latitudeB) * across * across
  return 2 * earthRadius * asin(Math.sqrt(haversine))
}

let lastLatitude = 0
let lastCosine = 1

/** Returns the cosine of the first latitude, which is the same for all positions of a search. */
function cosineOfFirst(latitude: number): number {
  if (latitude !== lastLatitude) {
    lastLatitude = latitude
    lastCosine = cos(latitude)
  }
  return lastCosine
}

function alongMeridian(latitudeA: number, latitudeB: number): number {
  return earthRadius * Math.abs(latitudeB * degree - latitudeA * degree)
}

// ---- search -----------------------------------------------------------------------------------------------------

/** Search area of GEOSEARCH, in meters. */
export type Shape =
  | { readonly kind: 'circle'; readonly center: Position; readonly radius: number }
  | { readonly kind: 'box'; readonly center: Position; readonly width: number; readonly height: number }

/** Returns the distance from the center in meters if the position is within the shape. */
export function distanceWithin(shape: Shape, position: Position): number | undefined {
  const { center } = shape
  if (shape.kind === 'circle') {
    const distance = distanceBetween(center, position)
    return distance > shape.radius ? undefined : distance
  }
  if (alongMeridian(position.latitude, center.latitude) > shape.height / 2) return undefined
  const sideways = distanceBetween(position, { longitude: center.longitude, latitude: position.latitude })
  return sideways > shape.width / 2 ? undefined : distanceBetween(center, position)
}

/** Scores from `min` up to, not including, `max`. */
export interface SearchArea {
  readonly min: number
  readonly max: number
}

/**
 * Returns the cells to search, in the order of redis: first the cell with the center, then the neighbors that the shape
 * can reach. Unsorted replies have this order.
 */
export function searchAreas(shape: Shape): SearchArea[] {
  const bounds = boundingBox(shape)
  const { step, center } = fittingCell(shape, bounds)
  const edges = edgesOf(center)
  const useless = (column: number, row: number) =>
    step >= 2 &&
    ((row < 0 && edges.south < bounds.south) ||
      (row > 0 && edges.north > bounds.north) ||
      (column < 0 && edges.west < bounds.west) ||
      (column > 0 && edges.east > bounds.east))
  const areas: SearchArea[] = []
  let processed = 0
  neighborOrder.forEach(([column, row], at) => {
    if (useless(column, row)) return
    const area = areaOf(neighbor(center, column, row))
    // Very wide searches wrap around the earth, so a neighbor may be the cell that was searched before. Redis does not
    // detect this for the first cell.
    const last = areas.at(-1)
    if (processed > 0 && last?.min === area.min) return
    areas.push(area)
    processed = at
  })
  return areas
}

/** Offsets of the searched cells: the cell itself, north, south, east, west, then the corners. */
const neighborOrder: readonly (readonly [column: number, row: number])[] = [
  [0, 0],
  [0, 1],
  [0, -1],
  [1, 0],
  [-1, 0],
  [1, 1],
  [-1, 1],
  [1, -1],
  [-1, -1],
]

/**
 * Returns a neighbor, wrapping around the earth. If the center is on the outer edge, its cell is outside the grid. A
 * neighbor in the same row or column is then outside the grid as well.
 */
function neighbor(cell: Cell, column: number, row: number): Cell {
  const cells = 2 ** cell.step
  return {
    column: column === 0 ? cell.column : (cell.column + column + cells) % cells,
    row: row === 0 ? cell.row : (cell.row + row + cells) % cells,
    step: cell.step,
  }
}

function areaOf(cell: Cell): SearchArea {
  const width = 2 ** (2 * (deepestStep - cell.step))
  const hash = interleave(cell)
  return { min: hash * width, max: (hash + 1) * width }
}

interface Bounds {
  readonly west: number
  readonly east: number
  readonly south: number
  readonly north: number
}

function boundingBox(shape: Shape): Bounds {
  const { longitude, latitude } = shape.center
  const halfHeight = shape.kind === 'circle' ? shape.radius : shape.height / 2
  const halfWidth = shape.kind === 'circle' ? shape.radius : shape.width / 2
  const up = halfHeight / earthRadius / degree
  // At the edge nearer to the pole, the same width spans more degrees.
  const widest = latitude < 0 ? latitude - up : latitude + up
  const across = halfWidth / earthRadius / cos(widest * degree) / degree
  return { west: longitude - across, east: longitude + across, south: latitude - up, north: latitude + up }
}

/** Returns the smallest cell around the center that, together with its neighbors, covers the shape. */
function fittingCell(shape: Shape, bounds: Bounds): { step: number; center: Cell } {
  const reach =
    shape.kind === 'circle'
      ? shape.radius
      : Math.sqrt((shape.width / 2) * (shape.width / 2) + (shape.height / 2) * (shape.height / 2))
  const step = estimateStep(reach, shape.center.latitude)
  const center = cellOf(shape.center, step, latitudeLimit)
  const covered =
    edgesOf(neighbor(center, 0, 1)).north >= bounds.north &&
    edgesOf(neighbor(center, 0, -1)).south <= bounds.south &&
    edgesOf(neighbor(center, 1, 0)).east >= bounds.east &&
    edgesOf(neighbor(center, -1, 0)).west <= bounds.west
  if (covered || step === 1) return { step, center }
  return { step: step - 1, center: cellOf(shape.center, step - 1, latitudeLimit) }
}

function estimateStep(reach: number, latitude: number): number {
  if (reach === 0) return deepestStep
  let step = 1
  for (let range = reach; range < mercatorReach; range *= 2) step++
  step -= 2
  if (Math.abs(latitude) > 66) step--
  if (Math.abs(latitude) > 80) step--
  return Math.max(1, Math.min(step, deepestStep))
}
