import type { ComponentChildren, JSX } from 'preact'
import { plainText } from '../../../../src/report/safe-text.js'
import type { TraceEntry } from '../../../../src/report/trace.js'
import { kindOf, spanOf } from '../entry-kinds.js'
import { entryText, lineOf, waitText } from '../entry-text.js'
import type { PageState } from '../page-state.js'
import { type PortableBody, wordOf } from '../readable-bytes.js'
import { shownDate, shownTime } from '../shown-dates.js'
import { BodyBlock } from './body-block.js'
import { fieldsOf } from './entry-fields.js'
import { HeadersTable } from './headers-table.js'
import { relationsOf } from './relations.js'
import { SignatureBlock } from './signature-block.js'
import { StoreChangeBlock } from './store-change-block.js'

interface EntryPanelProps {
  readonly page: PageState
}

/** Shows the selected entry: its content, its causes and its effects. */
export function EntryPanel({ page }: EntryPanelProps): JSX.Element {
  const { view } = page
  const entry = view.entry(view.selectedSeq.value)
  if (entry === undefined) {
    return (
      <div class="detail" id="detail" tabIndex={-1}>
        <h3 id="detail-title">No entry is selected</h3>
        <p class="quiet">
          {view.selectedSeq.value === undefined
            ? 'Select an entry with the arrow keys in the list, or click it in the list or in a lane of the time axis.'
            : `The log does not contain entry #${view.selectedSeq.value}, at least not yet.`}
        </p>
      </div>
    )
  }
  return <Detail key={entry.seq} page={page} entry={entry} />
}

function Detail({ page, entry }: EntryPanelProps & { readonly entry: TraceEntry }): JSX.Element {
  const words = entryText(entry)
  const notes = spanOf(entry).until === undefined ? words.notes : [...words.notes, waitText(entry)]
  return (
    <article class="detail" id="detail" tabIndex={-1} aria-labelledby="detail-title">
      <h3 id="detail-title">
        #{entry.seq} {kindOf(entry).name}, {shownDate(entry.at)} {shownTime(entry.at)}
      </h3>
      <p class="detail-line">{lineOf(words)}</p>
      {notes.length > 0 && (
        <ul>
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      <Links page={page} entry={entry} />
      <Content entry={entry} />
      <h4>Facts</h4>
      <dl>
        {fieldsOf(entry).map(({ name, text, seq }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{seq === undefined ? text : <EntryButton page={page} seq={seq} />}</dd>
          </div>
        ))}
      </dl>
    </article>
  )
}

/** Shows the command, the headers and the bodies of an entry. The request precedes the response. */
function Content({ entry }: { readonly entry: TraceEntry }): JSX.Element {
  const end = (entry.response ?? entry.outcome) as
    | { headers?: unknown; body?: PortableBody; error?: string }
    | undefined
  const isAttempt = entry.type === 'attempt' || entry.type === 'published'
  const own = isAttempt ? 'Message' : entry.type === 'notify' ? 'Event' : 'Request'
  return (
    <>
      {entry.type === 'command' && <CommandBlock entry={entry} />}
      {'body' in entry && <BodyBlock title={`${own}: body`} body={entry.body as PortableBody} />}
      {end !== undefined && (
        <BodyBlock
          title="Response: body"
          body={end.body}
          {...(end.body !== null && end.body !== undefined && { absent: 'The response has no body.' })}
        />
      )}
      <SignatureBlock entry={entry} />
      <HeadersTable title={`${own}: headers`} headers={entry.headers} />
      <HeadersTable title="Response: headers" headers={end?.headers} />
      <StoreChangeBlock change={entry.store} />
    </>
  )
}

function CommandBlock({ entry }: { readonly entry: TraceEntry }): JSX.Element {
  const argv = Array.isArray(entry.argv) ? (entry.argv as unknown[]) : []
  const words = argv.slice(0, 1000).map((word) => plainText(wordOf(word)))
  const reply = entry.error === undefined ? JSON.stringify(entry.reply ?? null, null, 2) : String(entry.error)
  return (
    <>
      <BodyBlock title="Command" body={words.join(' ')} />
      <BodyBlock title={entry.error === undefined ? 'Reply' : 'Error'} body={reply} />
    </>
  )
}

function Links({ page, entry }: EntryPanelProps & { readonly entry: TraceEntry }): JSX.Element {
  const { view } = page
  const { cause, effects, more, before, behind } = relationsOf(view.entries.value, entry)
  const { messageId } = entry
  return (
    <nav class="links" aria-label="Cause and consequences">
      {cause !== undefined && (
        <Named name="Cause">
          <EntryButton page={page} seq={cause} told />
        </Named>
      )}
      {effects.length > 0 && (
        <Named name="Led to">
          {effects.map((seq) => (
            <EntryButton key={seq} page={page} seq={seq} told />
          ))}
          {more > 0 && <small>and {more} more</small>}
        </Named>
      )}
      {(before !== undefined || behind !== undefined) && (
        <Named name={entry.messageId === undefined ? 'Same run' : 'Same message'}>
          {before !== undefined && (
            <EntryButton page={page} seq={before}>
              Before: #{before}
            </EntryButton>
          )}
          {behind !== undefined && (
            <EntryButton page={page} seq={behind}>
              Next: #{behind}
            </EntryButton>
          )}
          {typeof messageId === 'string' && (
            <button type="button" onClick={() => (page.filter.words.value = messageId)}>
              Only this message
            </button>
          )}
        </Named>
      )}
      <Named name="Time">
        <button
          type="button"
          onClick={() => {
            view.instant.value = entry.at
            page.axis.show(entry.at)
          }}
        >
          Look at this instant
        </button>
        <button
          type="button"
          onClick={() => page.axis.showRange(spanOf(entry).from, spanOf(entry).until ?? spanOf(entry).to)}
        >
          Show on the time axis
        </button>
      </Named>
    </nav>
  )
}

function Named({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div class="named">
      <span>{name}</span>
      <span class="named-links">{children}</span>
    </div>
  )
}

interface EntryButtonProps {
  readonly page: PageState
  readonly seq: number
  /** Whether the button shows the text of the entry, not only its number. */
  readonly told?: boolean
  readonly children?: ComponentChildren
}

function EntryButton({ page, seq, told: isTold, children }: EntryButtonProps): JSX.Element {
  const entry = page.view.entry(seq)
  if (entry === undefined) return <span class="quiet">#{seq}, which was dropped</span>
  return (
    <button type="button" class="entry-link" onClick={() => page.select(seq)}>
      {children ?? `#${seq}${isTold ? ` ${lineOf(entryText(entry)).slice(0, 160)}` : ''}`}
    </button>
  )
}
