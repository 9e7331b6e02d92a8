/**
 * Prints a warning, unless this process has already printed one with the same key.
 * @param about the key of the warning, such as the name of a command
 */
export type WarnOnce = (about: string, sentence: string) => void
