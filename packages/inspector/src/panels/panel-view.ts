import type { PageView } from '../view.js'

/** What every panel is given: the state of the page. */
export interface PanelProps {
  readonly view: PageView
}
