export const SHOP_VERSION = '5.13.0'
export const BASKET_PATH = '/assets/basket.min.js'
export const REPORTING_PATH = '/client_errors'
