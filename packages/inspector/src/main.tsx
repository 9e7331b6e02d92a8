import { effect } from '@preact/signals'
import { render } from 'preact'
import { App } from './app.js'
import { liveSource } from './live.js'
import './page.css'
import { entryText, lineOf } from './entry-text.js'
import { PageState } from './page-state.js'
import { recordingSource } from './recording-source.js'
import { listenToKeys } from './shell/keyboard.js'
import { applyFragment, keepLink } from './shell/page-fragment.js'
import { keepTheme } from './shell/theme.js'
import { tokenTaker } from './token.js'
import { PageView } from './view.js'

const recording = recordingSource()
// The token is in the URL. Take it before other code reads the URL.
const token = recording === undefined ? tokenTaker() : async () => undefined
const fragment = location.hash.slice(1)
const view = new PageView(recording ?? liveSource(new URLSearchParams(fragment).get('tenant') ?? 'main', token))
const page = new PageState(view)

keepTheme(view)
render(<App page={page} />, document.getElementById('app')!)
view.start()
applyFragment(page, fragment)
keepLink(page)
listenToKeys(page)

// The page of a failed test selects the entry that is nearest to the failed assertion, unless a link selects another
// entry.
let hasOpened = new URLSearchParams(fragment).has('entry')
effect(() => {
  const nearest = view.facts.value?.failure?.nearest
  if (hasOpened || nearest === undefined || view.entry(nearest) === undefined) return
  hasOpened = true
  page.select(nearest)
})

effect(() => {
  const entry = view.entry(view.selectedSeq.value)
  page.said.value = entry === undefined ? '' : `#${entry.seq} ${lineOf(entryText(entry))}`
})

effect(() => {
  const { state } = view.connection.value
  if (state === 'ready') document.documentElement.dataset.ready = 'true'
  const name = view.facts.value?.name
  if (name !== undefined && view.isLive) document.title = `${name}: inspector`
})
