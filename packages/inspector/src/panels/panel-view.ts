import type { PageView } from '../view.js'

export interface PanelProps {
  readonly view: PageView
}
