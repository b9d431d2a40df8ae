import { index, route } from '@react-router/dev/routes'

export default [
  index('routes/home.jsx'),
  route('orders', 'routes/orders.jsx'),
  route('error_dashboard/*', 'routes/error_dashboard.js'),
]
