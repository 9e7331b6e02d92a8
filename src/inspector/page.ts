// What a server sends of the inspector.

export type { InspectorPage, Recording } from '../report/page/document.js'
export { inspectorPage } from '../report/page/document.js'
export { editorScript } from '../report/page/editor-text.js'
