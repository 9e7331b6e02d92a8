import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { type CommandHelp, completions, isStatus, replyText, rowOf, wordsOf } from '../models/console.js'
import type { Control } from '../source.js'
import { useControlQuery } from './control-query.js'
import { DatabaseChoice } from './database-choice.js'
import { modelsOf } from './models-of.js'
import type { PanelProps } from './panel-view.js'
import { runCommand, storeControl } from './run-command.js'
import { kept } from './stored-setting.js'

interface Line {
  readonly id: number
  readonly text: string
  /** Added database to which a command was sent. */
  readonly database: string | undefined
  readonly kind: 'typed' | 'reply' | 'error'
}

/** Maximum number of lines in the console. Older lines are removed. */
const maxLines = 400

/** Console for commands of the store. It changes the current sandbox, so a recording has no console. */
export function Console({ view }: PanelProps): JSX.Element | null {
  const { control } = view.source
  return control === undefined ? null : <Prompt key={control.tenant} view={view} control={control} />
}

function Prompt({ view, control }: PanelProps & { readonly control: Control }): JSX.Element {
  const line = useSignal('')
  const lines = kept<readonly Line[]>(view, `replies of ${control.tenant}`, [])
  const place = useSignal<number | undefined>(undefined)
  const typed = kept<readonly string[]>(view, 'typed commands', [])
  const output = useRef<HTMLDivElement>(null)
  const reference = useControlQuery<readonly CommandHelp[]>(() => control.ask('GET', '/store/commands'), [control])
  const rows = reference.value ?? []
  const row = rowOf(rows, line.value)
  const possible = completions(rows, line.value)
  const { database } = modelsOf(view)
  const say = (text: string, kind: Line['kind']): void => {
    const id = (lines.value.at(-1)?.id ?? 0) + 1
    lines.value = [...lines.value, { id, text, database: database.value, kind }].slice(-maxLines)
  }
  useEffect(() => {
    output.current?.scrollTo(0, output.current.scrollHeight)
  }, [lines.value])

  const run = async (): Promise<void> => {
    const text = line.value.trim()
    if (text === '') return
    typed.value = [...typed.value.filter((one) => one !== text), text]
    place.value = undefined
    line.value = ''
    say(text, 'typed')
    if (/^clear$/i.test(text)) {
      lines.value = []
      return
    }
    const words = wordsOf(text)
    if (words === undefined) return say('Invalid argument(s): a quote is open, or text follows a closing one.', 'error')
    try {
      const reply = await runCommand(storeControl(control, database.value), words)
      say(replyText(reply, isStatus(reply, words, rowOf(rows, text))), 'reply')
    } catch (error) {
      say(`(error) ${error instanceof Error ? error.message : String(error)}`, 'error')
    }
  }
  const recall = (step: -1 | 1): void => {
    const at = (place.value ?? typed.value.length) + step
    if (at < 0) return
    place.value = at < typed.value.length ? at : undefined
    line.value = typed.value[at] ?? ''
  }
  const complete = (name: string): void => {
    line.value = `${name} `
  }
  const keys: Readonly<Record<string, () => void>> = {
    ArrowUp: () => recall(-1),
    ArrowDown: () => recall(1),
    Enter: () => void run(),
  }
  return (
    <section class="pn pn-console" aria-label="Console of the store">
      <DatabaseChoice view={view} />
      <div class="pn-output" role="log" ref={output} tabIndex={0} aria-label="Replies">
        {lines.value.map(({ id, text, database: sentTo = '', kind }) => (
          <pre key={id} class={`pn-${kind}`}>
            {kind === 'typed' ? `${sentTo}> ${text}` : text}
          </pre>
        ))}
      </div>
      <input
        class="pn-prompt"
        aria-label="Command"
        aria-describedby="pn-usage"
        placeholder="GET key"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={line}
        onInput={(event) => (line.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          // Tab completes a command. If there is no completion, Tab moves the focus as usual.
          const act =
            event.key === 'Tab' && !event.shiftKey && possible[0] ? () => complete(possible[0]!.name) : keys[event.key]
          if (act === undefined) return
          event.preventDefault()
          event.stopPropagation()
          act()
        }}
      />
      <p class="pn-line" id="pn-usage" aria-live="polite">
        {possible.map(({ name }) => (
          <button key={name} type="button" class="pn-link" onClick={() => complete(name)}>
            {name}
          </button>
        ))}
        {possible.length === 0 && row && (
          <>
            <code>{row.usage}</code> {row.summary} <small>{row.group}</small>
          </>
        )}
        {reference.failure}
      </p>
    </section>
  )
}
