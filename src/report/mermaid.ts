import type { Entry } from '../kernel/traffic-log.js'
import { type Redaction, standardRedaction } from './redaction.js'
import { type DiagramStep, diagramOf, gapText } from './sequence-diagram.js'
import { dateOf, timeOf } from './shown-times.js'

/**
 * Returns entries as a Mermaid sequence diagram. Characters of captured text are escaped if Mermaid could parse them as
 * syntax.
 */
export function mermaidDiagram(entries: readonly Entry[], redaction: Redaction = standardRedaction): string {
  return mermaidOf(entries, redaction)
}

/**
 * Returns entries as a Mermaid sequence diagram. The caller passes the redaction, so that this module does not import
 * the standard redaction.
 */
export function mermaidOf(entries: readonly Entry[], redaction: Redaction): string {
  const story = diagramOf(entries, redaction)
  const ids = new Map(story.participants.map((name, index) => [name, `p${index}`]))
  const lines = ['sequenceDiagram']
  for (const [name, id] of ids) lines.push(`  participant ${id} as ${mermaidText(name)}`)
  let before: number | undefined
  for (const step of story.steps) {
    if (step.at !== before) lines.push(`  Note over p0: ${timeNote(before, step.at)}`)
    before = step.at
    lines.push(`  ${stepLine(step, ids)}`)
  }
  if (story.steps.length === 0) lines.push('  participant p0 as app', '  Note over p0: no traffic')
  return lines.join('\n')
}

function timeNote(before: number | undefined, at: number): string {
  const date = before === undefined || dateOf(before) !== dateOf(at) ? `${dateOf(at)} ` : ''
  const gap = before === undefined ? '' : ` (${gapText(before, at)})`
  return mermaidText(`${date}${timeOf(at)}${gap}`)
}

function stepLine(step: DiagramStep, ids: ReadonlyMap<string, string>): string {
  if (step.kind === 'note') return `Note right of ${ids.get(step.over)}: ${mermaidText(step.text)}`
  const arrow = step.kind === 'arrow' ? '->>' : step.lost ? '--x' : '-->>'
  return `${ids.get(step.from)}${arrow}${ids.get(step.to)}: ${mermaidText(step.text)}`
}

/**
 * Escapes a text for Mermaid. Letters, digits and harmless characters stay, and every other character becomes `#code;`.
 */
export function mermaidText(text: string): string {
  const safe = text.replace(/[^\p{L}\p{N} .:/_,+=()…→-]/gu, (char) => `#${char.codePointAt(0)};`)
  // The word `end` alone ends a block. At the start of a text, `wrap:` and `nowrap:` are directives.
  return safe.replace(/^\s*(?:end\s*$|(?:no)?wrap:)/i, (word) => `#${word.charCodeAt(0)};${word.slice(1)}`) || '#32;'
}
