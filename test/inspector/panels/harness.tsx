import { render } from 'preact'
import { liveSource } from '../../../src/inspector/live.js'
import '../../../src/inspector/panels/panels.css'
import { Console } from '../../../src/inspector/panels/console.js'
import { FaultsPanel } from '../../../src/inspector/panels/faults-panel.js'
import { QueuePanel } from '../../../src/inspector/panels/queue-panel.js'
import { StorePanel } from '../../../src/inspector/panels/store-panel.js'
import { TenantsPanel } from '../../../src/inspector/panels/tenants-panel.js'
import { TimePanel } from '../../../src/inspector/panels/time-panel.js'
import { recordingSource } from '../../../src/inspector/recording.js'
import { View } from '../../../src/inspector/view.js'

// Every panel at once, without the rest of the page.

const view = new View(recordingSource() ?? liveSource('main', undefined))
Object.assign(globalThis, { view })
render(
  <main>
    <h1>Panels</h1>
    <StorePanel view={view} />
    <Console view={view} />
    <QueuePanel view={view} />
    <TimePanel view={view} />
    <FaultsPanel view={view} />
    <TenantsPanel view={view} />
  </main>,
  document.body,
)
view.start()
