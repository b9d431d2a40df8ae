import { expect, test } from 'vitest'
import { maskPassword } from '../../src/store/load-driver.js'

test.each([
  ['postgres://u:hunter2@h/db', 'postgres://u:***@h/db'],
  ['postgres://u:hun@ter2@h/db', 'postgres://u:***@h/db'],
  ['postgres://u:hun/ter2@127.0.0.1:1/db', 'postgres://u:***@127.0.0.1:1/db'],
  ['mysql://h/db?user=u&password=hunter2', 'mysql://h/db?user=***&password=***'],
  ['postgres://u@h:5432/db', 'postgres://u@h:5432/db'],
  ['postgres://h/db', 'postgres://h/db'],
])('masks the password of %s', (address, shown) => {
  expect(maskPassword(address)).toBe(shown)
})
