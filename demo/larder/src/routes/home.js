import { GUEST } from '../account/session.js'
import { recommendations } from '../catalog/recommendations.js'
import { homePage } from '../pages/home.js'

export async function showHome({ session }, shop) {
  const products = shop.database.query('select sku, name, price from products order by name limit 6')
  const recommended = session.user_id === GUEST ? [] : await recommendations(session.user_id, shop)
  return { page: homePage([...recommended, ...products], shop) }
}
