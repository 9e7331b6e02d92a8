import type { Entry } from '../kernel/traffic-log.js'
import type { EntryWording } from './describe.js'
import { type Nesting, nestingOf } from './nesting.js'
import { standardRedaction } from './redaction.js'
import { plainText } from './safe-text.js'
import { shortNames } from './short-names.js'
import { dateOf, timeOf } from './shown-times.js'
import { TimelineWriter } from './timeline-writer.js'

/** One entry of a tree, with the entries that it caused. */
export interface CausalNode {
  /** Log entry at this node. */
  readonly entry: Entry
  /** Nodes of the entries that this entry caused, oldest first. All attempts of a message are siblings. */
  readonly children: readonly CausalNode[]
}

/** A message as a tree: the entries that led to it, the entries about it, and the entries that resulted from these. */
export interface CausalTree {
  /** ID of the message that the tree is about, `msg_…`. */
  readonly messageId: string
  /**
   * Roots of the tree. Usually there is only one: the request that published the message, or the `published` entry if
   * there was no request.
   */
  readonly roots: readonly CausalNode[]
  /** Entries of the tree, oldest first. */
  readonly entries: readonly Entry[]
  /** Returns the tree as text, with the reason of every wait. */
  toString(): string
}

/**
 * Returns the tree of a message.
 * @param entries all known entries, in order
 */
export function causalTree(
  entries: readonly Entry[],
  messageId: string,
  wording: Partial<EntryWording> = {},
): CausalTree {
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]))
  const nesting = nestingOf(entries)
  // An entry that led to the message may also have led to other messages. These are not part of the tree.
  const own = new Set<number>()
  const wanted = new Set<number>()
  for (const entry of entries) {
    const isAbout = 'messageId' in entry && entry.messageId === messageId
    const above = nesting.above(entry)
    if (!isAbout && (above === undefined || !own.has(above))) continue
    own.add(entry.seq)
    addWithCauses(entry, bySeq, nesting, wanted)
  }
  const shown = entries.filter((entry) => wanted.has(entry.seq))
  const roots = grown(shown, bySeq, nesting, wanted)
  const words: EntryWording = { bodies: 80, name: shortNames(entries), redaction: standardRedaction, ...wording }
  return {
    messageId,
    roots,
    entries: shown,
    toString: () => treeText(messageId, roots, new TimelineWriter(entries, words, { nesting })),
  }
}

function addWithCauses(entry: Entry, bySeq: ReadonlyMap<number, Entry>, nesting: Nesting, wanted: Set<number>): void {
  for (let one: Entry | undefined = entry; one !== undefined && !wanted.has(one.seq); ) {
    wanted.add(one.seq)
    const above = nesting.above(one)
    one = above === undefined ? undefined : bySeq.get(above)
  }
}

interface Growing {
  readonly entry: Entry
  readonly children: Growing[]
}

/**
 * Builds the tree. Each attempt of a message results from the previous attempt, but the tree shows all attempts as
 * siblings.
 */
function grown(
  shown: readonly Entry[],
  bySeq: ReadonlyMap<number, Entry>,
  nesting: Nesting,
  wanted: ReadonlySet<number>,
): Growing[] {
  const roots: Growing[] = []
  const nodes = new Map<number, Growing>()
  for (const entry of shown) {
    const node: Growing = { entry, children: [] }
    nodes.set(entry.seq, node)
    let above = nesting.above(entry)
    if (isTurn(entry)) {
      for (let one = above && bySeq.get(above); one && isTurn(one) && one.messageId === entry.messageId; ) {
        above = one.cause
        one = above && bySeq.get(above)
      }
    }
    const parent = above !== undefined && wanted.has(above) ? nodes.get(above) : undefined
    if (parent === undefined) roots.push(node)
    else parent.children.push(node)
  }
  return roots
}

function isTurn(entry: Entry): entry is Extract<Entry, { type: 'attempt' | 'message' | 'flow-control' }> {
  return entry.type === 'attempt' || entry.type === 'message' || entry.type === 'flow-control'
}

function treeText(messageId: string, roots: readonly CausalNode[], telling: TimelineWriter): string {
  if (roots.length === 0) return `(no entries about ${plainText(messageId)})`
  const lines: string[] = []
  let date = ''
  // A chain of causes may be too long for recursion, so this loop has its own stack.
  const open: [node: CausalNode, before: string, isLast: boolean, isRoot: boolean][] = []
  for (const root of [...roots].reverse()) open.push([root, '', true, true])
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, before, isLast, isRoot] = next
    const { entry, children } = node
    if (dateOf(entry.at) !== date) {
      date = dateOf(entry.at)
      lines.push(date)
    }
    const { head, details } = telling.report(entry)
    const branch = isRoot ? '' : isLast ? '└─ ' : '├─ '
    const below = isRoot ? before : `${before}${isLast ? '   ' : '│  '}`
    lines.push(`${timeOf(entry.at)}  ${before}${branch}#${entry.seq} ${head}`)
    for (const detail of details) lines.push(`              ${below}${children.length > 0 ? '│  ' : '   '}${detail}`)
    for (let index = children.length - 1; index >= 0; index--)
      open.push([children[index]!, below, index === children.length - 1, false])
  }
  return lines.join('\n')
}
