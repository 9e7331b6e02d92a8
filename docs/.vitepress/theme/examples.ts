const files = import.meta.glob<string>('../playground/examples/*.js', { query: '?raw', import: 'default', eager: true })

/** The playground's examples, in their order. */
export const examples: readonly { readonly name: string; readonly title: string; readonly code: string }[] = [
  ['retry', 'A shop that is down'],
  ['charged-twice', 'Charged twice: a test that fails'],
  ['invitation', 'Three days in no time'],
  ['dead-letter', 'A dead letter'],
  ['flow-control', 'Two at a time'],
].map(([name, title]) => ({ name: name!, title: title!, code: files[`../playground/examples/${name}.js`]! }))
