import type { PortableString } from '../../../../src/kernel/portable.js'

/** A word of a command as the control API takes it. */
export type ControlArg = PortableString | number

/** What a command is answered with: integers that JSON would round stand as texts. */
export type ControlReply = null | string | number | { readonly integer: string } | readonly ControlReply[]
