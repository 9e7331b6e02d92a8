/** Thrown if the server has rejected a request. */
export class ControlRejection extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }

  static async of(answer: Response): Promise<ControlRejection> {
    return new ControlRejection(
      answer.status,
      sentenceOf(await answer.text()) ?? `The server responded ${answer.status}.`,
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
