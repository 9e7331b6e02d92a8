import type { JSX } from 'preact'
import { formatDuration } from '../../../../src/kernel/duration.js'
import { plural } from '../../../../src/kernel/plural.js'
import { multiLine, plainText } from '../../../../src/report/safe-text.js'
import { droppedText } from '../entry-text.js'
import type { PageState } from '../page-state.js'
import { shownDate, shownTime } from '../shown-dates.js'
import type { PageView } from '../view.js'
import { themes } from './theme.js'

interface HeaderProps {
  readonly page: PageState
}

/** Shows the name and the state of the sandbox, and failures. */
export function Header({ page }: HeaderProps): JSX.Element {
  const { view } = page
  const facts = view.facts.value
  const entries = view.entries.value
  const first = entries[0]
  const told: string[] = [plural(entries.length, 'entry', 'entries')]
  if (facts !== undefined && facts.now !== 0) told.push(`now ${shownDate(facts.now)} ${shownTime(facts.now)}`)
  const begin = page.axis.scale.value.first
  if (first !== undefined) told.push(`${formatDuration(page.axis.now.value - begin)} of virtual time`)
  if (facts?.mode !== undefined) told.push(`clock ${facts.mode}`)
  if (facts?.seed !== undefined) told.push(`seed ${plainText(String(facts.seed))}`)
  return (
    <header>
      <a class="skip" href="#list" onClick={focusList}>
        Skip to the entries
      </a>
      <div class="header-line">
        <h1>{plainText(facts?.name ?? 'Inspector')}</h1>
        <p class="quiet">{told.join(' · ')}</p>
        <span class="header-tools">
          {facts?.canGoOn && view.source.control !== undefined && !view.hasGoneOn.value && (
            <button type="button" class="go-on" onClick={() => goOn(view)}>
              Continue
            </button>
          )}
          <ThemeButton page={page} />
          <button type="button" aria-haspopup="dialog" onClick={() => (page.isHelpOpen.value = true)}>
            Keys <kbd>?</kbd>
          </button>
        </span>
      </div>
      {first?.type === 'dropped' && (
        <p class="notice" role="note">
          {plainText(droppedText(first as never))}
        </p>
      )}
      <Connection page={page} />
      <Failure page={page} />
    </header>
  )
}

/**
 * Lets the waiting test continue. If the request fails, the test still waits, and the page shows that the server does
 * not respond.
 */
function goOn(view: PageView): void {
  view.source.control?.ask('POST', '/continue').then(
    () => (view.hasGoneOn.value = true),
    () => undefined,
  )
}

/** Moves the focus to the list. The link must not change the URL, which contains the selection. */
function focusList(event: MouseEvent): void {
  event.preventDefault()
  document.getElementById('list')?.focus()
}

function ThemeButton({ page: { view } }: HeaderProps): JSX.Element {
  const { value: theme } = view.theme
  const next = themes[(themes.indexOf(theme) + 1) % themes.length]!
  return (
    <button type="button" title={`Next: ${next}`} onClick={() => (view.theme.value = next)}>
      Colors: {theme}
    </button>
  )
}

function Connection({ page: { view } }: HeaderProps): JSX.Element | null {
  if (view.hasGoneOn.value) {
    return (
      <p class="quiet" role="status">
        The test has continued; this page can be closed.
      </p>
    )
  }
  const { state, problem } = view.connection.value
  return state === 'lost' ? (
    <p class="notice" role="alert">
      {plainText(problem ?? 'The server does not respond.')}
    </p>
  ) : null
}

/** Shows the failed assertion, and the entry that came nearest to satisfying it. */
function Failure({ page }: HeaderProps): JSX.Element | null {
  const failure = page.view.facts.value?.failure
  if (failure === undefined) return null
  const [, line = '', more = ''] = /^([^\n]*)\s*(.*)$/s.exec(multiLine(failure.message).trim()) ?? []
  const { nearest } = failure
  return (
    <section class="failure" aria-label="The assertion that failed">
      <p>
        <strong>{line}</strong>{' '}
        {nearest !== undefined && (
          <button type="button" onClick={() => page.select(nearest)}>
            Nearest entry: #{nearest}
          </button>
        )}
      </p>
      {more !== '' && (
        <details open={more.length <= 800}>
          <summary>More</summary>
          <pre tabIndex={0} role="region" aria-label="The whole message">
            {more}
          </pre>
        </details>
      )}
    </section>
  )
}
