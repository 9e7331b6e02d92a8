// What a server sends of the inspector.

export type { InspectorPage, Recording } from './document/document.js'
export { inspectorPage } from './document/document.js'
export { editorScript } from './document/editor-text.js'
