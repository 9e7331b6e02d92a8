/** The server answered, and the answer is no. */
export class ControlRejection extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }

  /** With the sentence of the server. */
  static async of(answer: Response): Promise<ControlRejection> {
    return new ControlRejection(
      answer.status,
      sentenceOf(await answer.text()) ?? `The server answered ${answer.status}.`,
    )
  }
}

function sentenceOf(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    return typeof error === 'string' ? error : undefined
  } catch {
    return undefined
  }
}
