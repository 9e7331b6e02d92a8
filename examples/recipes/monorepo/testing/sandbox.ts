import 'stuntdouble/vitest/extend'
import { useSandbox } from 'stuntdouble/vitest'

process.env.MAIL_URL = 'https://mail.test'

/** The sandbox of whichever package is being tested. */
export const sandbox = useSandbox()
