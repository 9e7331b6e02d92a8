import type { PageView } from '../view.js'

/** Properties that every panel gets. */
export interface PanelProps {
  readonly view: PageView
}
