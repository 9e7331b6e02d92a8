import type { PortableString } from '../../../../src/kernel/portable.js'

/** An argument of a command as the control API takes it. */
export type ControlArg = PortableString | number

/** The reply of a command. Integers that JSON would round are texts. */
export type ControlReply = null | string | number | { readonly integer: string } | readonly ControlReply[]
