import type { Bytes } from '../../../../src/kernel/bytes.js'
import type { Entry } from '../../../../src/kernel/traffic-log.js'
import { Redaction } from '../../../../src/report/redaction.js'
import { EntryWriter } from '../../../../src/report/trace.js'
import type { Traffic } from '../../../../src/report/traffic-view.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'

const writers = new WeakMap<Traffic, { readonly secrets: string; readonly writer: EntryWriter }>()

/** Writes entries of a sandbox as a trace has them, its secrets hidden. Kept until a token or a key changes. */
export function writerOf({ traffic }: Sandbox): EntryWriter {
  const secrets = (traffic.context.secrets?.() ?? []).join('\n')
  const known = writers.get(traffic)
  if (known?.secrets === secrets) return known.writer
  const writer = new EntryWriter(traffic.redaction(), Number.POSITIVE_INFINITY)
  writers.set(traffic, { secrets, writer })
  return writer
}

/**
 * Hides nothing: for a copy of a world that goes to whoever has its tokens anyway, so that matchers can look at
 * signatures and headers there as they do here.
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
