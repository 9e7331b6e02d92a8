import 'stuntdouble/vitest/extend'
import { useSandbox } from 'stuntdouble/vitest'

process.env.APP_URL = 'https://shop.test'
process.env.BANK_URL = 'https://bank.test'

export const sandbox = useSandbox()
