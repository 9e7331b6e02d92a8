import type { Bytes } from '../../../../src/kernel/bytes.js'
import type { Entry } from '../../../../src/kernel/traffic-log.js'
import { Redaction } from '../../../../src/report/redaction.js'
import { type EntryWriter, entryWriter } from '../../../../src/report/trace.js'
import type { Traffic } from '../../../../src/report/traffic-view.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'

const writers = new WeakMap<Traffic, { readonly secrets: string; readonly writer: EntryWriter }>()

/** Returns the writer that encodes entries with redacted secrets. The writer is cached until a token or key changes. */
export function writerOf({ traffic }: Sandbox): EntryWriter {
  const secrets = (traffic.context.secrets?.() ?? []).join('\n')
  const known = writers.get(traffic)
  if (known?.secrets === secrets) return known.writer
  const writer = entryWriter(traffic.redaction(), Number.POSITIVE_INFINITY)
  writers.set(traffic, { secrets, writer })
  return writer
}

/**
 * A redaction that redacts nothing. Snapshots use this redaction, because a client that requests a snapshot has the
 * tokens. Matchers then see the same signatures and headers as in a local sandbox.
 */
export class OpenRedaction extends Redaction {
  override text(given: string): string {
    return given
  }

  override body(bytes: Bytes): Bytes {
    return bytes
  }

  override header(_name: string, value: string): string {
    return value
  }

  override words(argv: readonly string[]): string[] {
    return [...argv]
  }

  override isSecretName(): boolean {
    return false
  }

  override isSecretCommand(): boolean {
    return false
  }

  override hidesReply(): boolean {
    return false
  }

  override reply(_argv: readonly string[], reply: unknown): unknown {
    return reply
  }

  override request({ url }: Extract<Entry, { type: 'request' }>): {
    url: string
    fields: undefined
    answer: undefined
  } {
    return { url, fields: undefined, answer: undefined }
  }
}
