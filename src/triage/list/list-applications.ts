import * as v from 'valibot'
import { defineOperation } from '../../operation.js'
import { byteOrder } from '../../store/sql/sort-order.js'

export interface Application {
  id: number
  name: string
}

/** Lists applications by name. */
export const listApplications = defineOperation({
  input: v.object({}),
  async run({ database }): Promise<Application[]> {
    const { read, dialect } = database
    return read
      .selectFrom('faultboard_applications')
      .select(['id', 'name'])
      .orderBy(byteOrder(dialect, 'name'))
      .execute()
  },
})
