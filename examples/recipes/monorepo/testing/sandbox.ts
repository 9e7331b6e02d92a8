import 'stuntdouble/vitest/extend'
import { useSandbox } from 'stuntdouble/vitest'

/** Sandbox for the tests of one file, reset before each test. */
export function usePackageSandbox() {
  process.env.MAIL_URL = 'https://mail.test'
  return useSandbox()
}
