import type { JSX } from 'preact'
import type { View } from './view.js'

export function App({ view }: { readonly view: View }): JSX.Element {
  return <h1>{view.facts.value?.name}</h1>
}
