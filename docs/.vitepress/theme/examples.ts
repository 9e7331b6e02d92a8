const files = import.meta.glob<string>('../playground/examples/*.js', { query: '?raw', import: 'default', eager: true })

/** Examples of the playground, in the order of the menu. */
export const examples: readonly { readonly name: string; readonly title: string; readonly code: string }[] = [
  ['retry', 'Retry a delivery'],
  ['charged-twice', 'Duplicate charge: a failing test'],
  ['invitation', 'Skip three days'],
  ['dead-letter', 'Dead letter and failure callback'],
  ['flow-control', 'Flow control'],
].map(([name, title]) => ({ name: name!, title: title!, code: files[`../playground/examples/${name}.js`]! }))
