import type { PortableString } from '../../../../src/kernel/portable.js'

/** Argument of a command in a request to the control API. */
export type ControlArg = PortableString | number

/** Reply of a command in a response of the control API. An integer that JSON would round is a text in an object. */
export type ControlReply = null | string | number | { readonly integer: string } | readonly ControlReply[]
