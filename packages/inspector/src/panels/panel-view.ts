import type { PageView } from '../view.js'

/** Properties of every panel: the state of the page. */
export interface PanelProps {
  readonly view: PageView
}
