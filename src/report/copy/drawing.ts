import { entryOf as readEntry } from '../load-trace.js'
import { mermaidOf } from '../mermaid.js'
import type { Redaction } from '../redaction.js'
import { type CopySelection, entriesOf } from './selection.js'

const same = <T>(given: T): T => given

/** A redaction that changes nothing. The inspector's entries were redacted when they were captured. */
const nothingMore: Partial<Redaction> = {
  text: same,
  url: same,
  body: same,
  words: (words: readonly string[]) => [...words],
  request: ({ url }) => ({ url }) as never,
  isSecretCommand: () => false,
  hidesReply: () => false,
  reply: (_words: unknown, reply: unknown) => reply,
  errorOf: (_words: unknown, error: string) => error,
}

/** Returns a sequence diagram as Mermaid source, for documents that render it. */
export function mermaidCopy(selection: CopySelection): string {
  return `${mermaidOf(entriesOf(selection).map(readEntry), nothingMore as Redaction)}\n`
}
