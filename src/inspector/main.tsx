import { render } from 'preact'
import { App } from './app.js'
import { liveSource } from './live.js'
import './page.css'
import { recordingSource } from './recording.js'
import { takeToken } from './token.js'
import { View } from './view.js'

const source = recordingSource() ?? liveSource(tenantOfLink(), takeToken())
const view = new View(source)
render(<App view={view} />, document.getElementById('app')!)
view.start()

/** Which world the link is about. */
function tenantOfLink(): string {
  return new URLSearchParams(location.hash.slice(1)).get('tenant') ?? 'main'
}
