// The parts of the inspector that a server needs.

export { editorScript } from '../page/editor-text.js'
export type { InspectorPage, Recording } from '../page/page-document.js'
export { inspectorPage } from '../page/page-document.js'
