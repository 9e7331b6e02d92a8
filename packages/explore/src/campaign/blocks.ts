// The runs of an exploration are numbered from 0 and divided into blocks. The result of a block depends only on the
// seed and on the number of the block. Blocks can therefore run separately, in any order and on any machine.

/** Number of runs in a block. The last block may have fewer. */
export const blockLength = 1000

export function blockCount(size: number): number {
  return Math.ceil(size / blockLength)
}

/** Returns the first run of a block, and the number after its last run. */
export function runsOf(block: number, size: number): { readonly from: number; readonly to: number } {
  const from = block * blockLength
  return { from, to: Math.min(size, from + blockLength) }
}

/** A part of a campaign that one machine runs: `3/8` is the third of eight parts. */
export interface Shard {
  readonly nth: number
  readonly of: number
}

/**
 * Returns the numbers of a shard's blocks. Shard `1/8` has the blocks 0, 8, 16 and so on, so all shards get about the
 * same amount of work.
 */
export function blocksOf({ nth, of }: Shard, size: number): readonly number[] {
  const blocks: number[] = []
  for (let block = nth - 1; block < blockCount(size); block += of) blocks.push(block)
  return blocks
}

/** Formats blocks and their runs: `blocks 0–3, 7 (runs 0–3999, 7000–7299)`. */
export function blocksText(blocks: readonly number[], size: number): string {
  const ranges: [number, number][] = []
  for (const block of [...blocks].sort((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] >= block - 1) last[1] = block
    else ranges.push([block, block])
  }
  const runs = ranges.map(([from, to]): [number, number] => [runsOf(from, size).from, runsOf(to, size).to - 1])
  return `${blocks.length === 1 ? 'block' : 'blocks'} ${rangesText(ranges)} (runs ${rangesText(runs)})`
}

const maxRanges = 12

function rangesText(ranges: readonly [number, number][]): string {
  const shown = ranges.slice(0, maxRanges).map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`))
  const left = ranges.length - shown.length
  return left > 0 ? `${shown.join(', ')} and ${left} more` : shown.join(', ')
}
