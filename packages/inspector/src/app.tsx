import type { JSX } from 'preact'
import { Axis } from './axis/axis.js'
import { List } from './list/entry-list.js'
import type { PageState } from './page-state.js'
import { Header } from './shell/header.js'
import { Help } from './shell/help-panel.js'
import { PanelTabs } from './shell/tabs.js'

export function App({ page }: { readonly page: PageState }): JSX.Element {
  const { view, axis, filter, rows } = page
  return (
    <>
      <Header page={page} />
      <Axis view={view} axis={axis} />
      <main>
        <List view={view} axis={axis} filter={filter} rows={rows} />
        <PanelTabs page={page} />
      </main>
      <p class="unseen" role="status" aria-live="polite">
        {page.said.value}
      </p>
      <Help page={page} />
    </>
  )
}
