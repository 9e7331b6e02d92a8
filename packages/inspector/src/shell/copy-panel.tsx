import { signal, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type * as forms from '../../../../src/report/copy/copy-forms.js'
import type { CopyContext, CopySelection } from '../../../../src/report/copy/selection.js'
import { multiLine } from '../../../../src/report/safe-text.js'
import type { PageState } from '../page-state.js'

interface Choice {
  readonly name: string
  readonly selection: CopySelection
}

/** The copy forms. They are loaded when the panel is opened. */
const known = signal<typeof forms | undefined>(undefined)
const problem = signal<string | undefined>(undefined)

function ask(): void {
  import('../../../../src/report/copy/copy-forms.js').then(
    (loaded) => {
      known.value = loaded
    },
    (error) => {
      problem.value = error instanceof Error ? error.message : String(error)
    },
  )
}

/** Shows the selection in a format that can be pasted into other programs. */
export function CopyPanel({ page }: { readonly page: PageState }): JSX.Element {
  useEffect(ask, [])
  if (known.value === undefined) return <p class="quiet">{problem.value ?? 'Loading.'}</p>
  return <Copying page={page} {...known.value} />
}

function Copying({ page, copyFormats, copyFormatsFor }: typeof forms & { readonly page: PageState }): JSX.Element {
  const { view } = page
  const wanted = useSignal({ choice: '', form: '' })
  const done = useSignal('')
  const choices = choicesOf(page).filter(({ selection }) => copyFormatsFor(selection).length > 0)
  const choice = choices.find(({ name }) => name === wanted.value.choice) ?? choices[0]
  if (choice === undefined) {
    return <p class="quiet">Select an entry or a range to copy it as a test, a scenario or a command.</p>
  }
  const fitting = copyFormatsFor(choice.selection)
  const form = fitting.find(({ name }) => name === wanted.value.form) ?? fitting[0] ?? copyFormats[0]!
  const { name: _, now: __, mode: ___, canGoOn: ____, ...context } = view.facts.value ?? { name: '', now: 0 }
  const text = multiLine(form.render(choice.selection, context as CopyContext))
  const copy = async (): Promise<void> => {
    done.value = await navigator.clipboard.writeText(text).then(
      () => 'Copied.',
      () => 'The browser does not allow the page to copy: select the text and copy it.',
    )
  }
  return (
    <section aria-label="Copy">
      <div class="tools">
        <label>
          What{' '}
          <select
            value={choice.name}
            onChange={({ currentTarget }) => {
              wanted.value = { ...wanted.value, choice: currentTarget.value }
              done.value = ''
            }}
          >
            {choices.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          As{' '}
          <select
            value={form.name}
            onChange={({ currentTarget }) => {
              wanted.value = { ...wanted.value, form: currentTarget.value }
              done.value = ''
            }}
          >
            {fitting.map(({ name, label }) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={copy}>
          Copy
        </button>
        <span role="status">{done.value}</span>
      </div>
      <pre class="copied" tabIndex={0} role="region" aria-label="What is copied">
        {text}
      </pre>
    </section>
  )
}

/** Returns the entries that can be copied: the selected entry, all entries of its message, and the selected range. */
function choicesOf({ view }: PageState): readonly Choice[] {
  const entries = view.entries.value
  const entry = view.entry(view.selectedSeq.value)
  const range = view.range.value
  const choices: Choice[] = []
  if (entry !== undefined) {
    choices.push({ name: `entry #${entry.seq}`, selection: { entries, entry: entry.seq } })
    const { messageId } = entry
    if (typeof messageId === 'string') {
      choices.push({ name: 'its message, with all its entries', selection: { entries, message: messageId } })
    }
  }
  const within = range === undefined ? [] : entries.filter(({ at }) => at >= range.from && at <= range.to)
  if (within.length > 0) {
    choices.push({ name: 'the range', selection: { entries, range: [within[0]!.seq, within.at(-1)!.seq] } })
  } else if (entries.length > 0 && entries.length <= maxOfAll) {
    choices.push({ name: 'everything', selection: { entries, range: [entries[0]!.seq, entries.at(-1)!.seq] } })
  }
  return choices
}

/** Maximum number of entries of a log that can be copied without a selection. */
const maxOfAll = 500
