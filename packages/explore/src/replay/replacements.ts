import { fromBase64, text, toBase64, utf8 } from '../../../../src/kernel/bytes.js'
import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import { stepOfEntry } from '../../../../src/workflow/history-file.js'
import type { RunHistoryEntry, StepIdentity } from '../../../../src/workflow/run-history.js'

/**
 * JSON values that replace a value which the history does not contain. If the code does not use the value, the code
 * continues in the same way with each replacement.
 */
export const replacements: readonly string[] = ['{}', 'null', 'true', '0', '1', '"x"', '[]']

/**
 * Returns an entry whose unknown value is replaced. An entry with a known value is returned unchanged.
 * @param standIn replacement as JSON
 */
export function withStandIn(entry: RunHistoryEntry, at: number, standIn: string): RunHistoryEntry {
  if (entry.unknown === undefined) return entry
  if (at === 0) return { ...entry, body: toBase64(utf8(standIn)) }
  const step = stepOfEntry(entry, at)
  const given = parsedJson(text(fromBase64(entry.body)!)) as Record<string, unknown>
  if (step === undefined || step.targetStep !== undefined) return entry
  return { ...entry, body: toBase64(utf8(JSON.stringify({ ...given, out: outOf(step.stepType, standIn) }))) }
}

/** Returns an entry with a step name that no workflow contains. The SDK then reports the name that the code has. */
export function probeOf(step: StepIdentity): RunHistoryEntry {
  const body = JSON.stringify({ ...step, stepName: 'stuntdouble asks which step is next', out: 'null' })
  return { messageId: 'msg_probe', body: toBase64(utf8(body)), callType: 'step' }
}

/** Formats a replacement as the result of a step of this type. [workflow.md 5 to 9] */
function outOf(stepType: string, standIn: string): string {
  const value = JSON.parse(standIn) as unknown
  const asText = typeof value === 'string' ? value : standIn
  if (stepType === 'Call') return JSON.stringify({ status: 200, body: asText, header: {} })
  if (stepType === 'Wait') return toBase64(utf8(standIn))
  if (stepType === 'WaitForWebhook') {
    const request = {
      method: 'POST',
      header: {},
      body: toBase64(utf8(asText)),
      proto: 'https',
      host: 'hook.test',
      url: '/',
    }
    return toBase64(utf8(JSON.stringify(request)))
  }
  if (stepType === 'Notify') return JSON.stringify({ eventId: 'event', eventData: value, notifyResponse: [] })
  if (stepType === 'CreateWebhook') return JSON.stringify({ webhookUrl: 'https://hook.test/', eventId: 'event' })
  if (stepType === 'Invoke') return JSON.stringify({ body: standIn, isFailed: false, isCanceled: false })
  return standIn
}
