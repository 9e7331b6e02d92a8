// What a server sends of the inspector.

export type { InspectorPage, Recording } from '../page/document.js'
export { inspectorPage } from '../page/document.js'
export { editorScript } from '../page/editor-text.js'
