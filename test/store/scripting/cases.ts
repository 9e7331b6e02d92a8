import { parseReply, type Section, type Step } from '../../support/steps.js'

/**
 * Declares Lua scripts as steps of a transcript: one script per line, `⏎` for a line break in it. `= reply because
 * reason` below it is the reply of the double where it deliberately differs from redis-server.
 */
export function scripts(title: string, lines: string): Section {
  const steps: Step[] = []
  for (const line of lines.split('\n').map((each) => each.trim())) {
    if (line === '' || line.startsWith('##')) continue
    const own = /^= (.*) because (.*)$/s.exec(line)
    if (own) steps.push({ ...steps.pop()!, ours: { reply: parseReply(own[1]!), because: own[2]! } })
    else steps.push(evaluation(line))
  }
  return { title, steps }
}

function evaluation(line: string): Step {
  return { text: line, argv: ['EVAL', bytes(line.replaceAll('⏎', '\n')), '0'], loose: new Set(['failure']) }
}

/** Declares commands around scripts, one array of arguments per row. */
export function commands(title: string, rows: readonly (readonly string[])[]): Section {
  return {
    title,
    steps: rows.map((words) => ({
      text: JSON.stringify(words),
      argv: words.map(bytes),
      loose: new Set(['failure'] as const),
    })),
  }
}

function bytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}
