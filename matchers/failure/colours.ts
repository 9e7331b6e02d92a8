import { hostVariables } from '../../src/kernel/host.js'
import type { FailureData } from '../../src/report/failure.js'
import { failureParts, failureText } from '../../src/report/failure-text.js'

/** Functions of a test runner that color text. The runner knows whether its terminal supports colors. */
interface Colours {
  readonly EXPECTED_COLOR: (text: string) => string
  readonly RECEIVED_COLOR: (text: string) => string
  readonly DIM_COLOR: (text: string) => string
}

/** Returns the text of a failure with the colors of the test runner. If the runner has no colors, the text is plain. */
export function painted(failure: FailureData, utils: unknown): string {
  if (isPlain() || !hasColours(utils)) return failureText(failure)
  const { call, verdict, story } = failureParts(failure)
  const date = story.findIndex((line) => /^\d{4}-\d\d-\d\d$/.test(line))
  return [
    ...call.map((line, index) => (index === 0 ? callLine(line, utils) : line)),
    ...verdict.map((line) => verdictLine(line, utils)),
    ...story.map((line, index) => (date !== -1 && index >= date ? storyLine(line, utils) : line)),
  ].join('\n')
}

/**
 * Returns whether colors are off. Vitest workers have color functions even without a terminal, so environment variables
 * decide whether colors are off. They are off where the environment cannot be read.
 */
function isPlain(): boolean {
  const env = hostVariables('NO_COLOR', 'FORCE_COLOR', 'FORCE_TTY')
  if (env?.NO_COLOR !== undefined) return true
  if (env?.FORCE_COLOR !== undefined) return false
  if (env?.FORCE_TTY !== undefined) return env.FORCE_TTY !== 'true'
  // Vitest sets FORCE_TTY in Node.js only. The environment in a browser or a Cloudflare Worker is not that of the terminal.
  return env === undefined || '__vitest_worker__' in globalThis
}

function hasColours(utils: unknown): utils is Colours {
  const { EXPECTED_COLOR, RECEIVED_COLOR, DIM_COLOR } = (utils ?? {}) as Partial<Colours>
  return [EXPECTED_COLOR, RECEIVED_COLOR, DIM_COLOR].every((colour) => typeof colour === 'function')
}

/** Colors the first line of a call as test runners do: `expect(queue).toHavePublished({ … })`. */
function callLine(line: string, { EXPECTED_COLOR, RECEIVED_COLOR, DIM_COLOR }: Colours): string {
  const parts = /^(expect\()(\w+)(\)\.(?:not\.)?)(\w+)(\()(.*?)(\)?)$/.exec(line)
  if (parts === null) return line
  const [, open, role, dot, matcher, left, given, right] = parts as unknown as readonly string[]
  const coloured = (colour: (text: string) => string, text = ''): string => (text === '' ? '' : colour(text))
  return [
    DIM_COLOR(open!) + RECEIVED_COLOR(role!) + DIM_COLOR(dot!) + matcher! + DIM_COLOR(left!),
    coloured(EXPECTED_COLOR, given),
    coloured(DIM_COLOR, right),
  ].join('')
}

function verdictLine(line: string, colours: Colours): string {
  const { EXPECTED_COLOR, RECEIVED_COLOR, DIM_COLOR } = colours
  if (/^ {6}[ ]{4}[-+] /.test(line)) return (line.trimStart().startsWith('-') ? EXPECTED_COLOR : RECEIVED_COLOR)(line)
  if (!/^ {2,}[✓✗·]/.test(line)) return line
  return line
    .split(/(?<= {3})(?=[✓✗])/)
    .map((item) => (item.trimStart().startsWith('✗') ? missed(item, colours) : DIM_COLOR(item)))
    .join('')
}

/** Colors one difference: `✗ status: expected 200, received 503`. */
function missed(item: string, { EXPECTED_COLOR, RECEIVED_COLOR }: Colours): string {
  const parts = /^(.*?: expected )(.*?)(, received )(.*?)(\s*)$/.exec(item)
  if (parts === null) return RECEIVED_COLOR(item)
  const [, lead, expected, between, received, rest] = parts as unknown as readonly string[]
  const told = [EXPECTED_COLOR(expected!), between, RECEIVED_COLOR(received!), rest].join('')
  return `${lead!.replace('✗', RECEIVED_COLOR('✗'))}${told}`
}

/** Dims the number and the time of an entry, and highlights errors. */
function storyLine(line: string, { DIM_COLOR, RECEIVED_COLOR }: Colours): string {
  const lead = /^ +#\d+ +[\d:.]+ +(?:\+\S+ +)?/.exec(line)?.[0]
  if (lead === undefined) return DIM_COLOR(line)
  const told = line.slice(lead.length)
  const isWrong = / → (?:[45]\d\d\b|no (?:answer|response)|connection broken|error: )|^dead letter |^fault /.test(told)
  return `${DIM_COLOR(lead)}${isWrong ? RECEIVED_COLOR(told) : told}`
}
