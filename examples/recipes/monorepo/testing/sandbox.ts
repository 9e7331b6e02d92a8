import 'stuntdouble/vitest/extend'
import { useSandbox } from 'stuntdouble/vitest'

process.env.MAIL_URL = 'https://mail.test'

/** A sandbox for the tests of one file, reset before each test. */
export const usePackageSandbox = () => useSandbox()
