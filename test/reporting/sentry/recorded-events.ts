/** Events in the formats of SDKs for other languages. */

export const PYTHON = {
  event_id: '9f1c2d3e4b5a69788796a5b4c3d2e1f0',
  platform: 'python',
  level: 'error',
  timestamp: '2026-03-10T11:59:58.123456Z',
  release: 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334',
  environment: 'production',
  server_name: 'api-3',
  transaction: 'orders.views.show',
  logger: 'django.request',
  sdk: { name: 'sentry.python.django', version: '2.20.0' },
  user: { id: 'u-7', ip_address: '203.0.113.9' },
  tags: [
    ['region', 'eu'],
    ['shard', '3'],
  ],
  request: {
    url: 'https://api.shop.example/orders/7',
    method: 'POST',
    query_string: 'page=2&token=s3cr3t',
    headers: { 'User-Agent': 'curl/8.5.0', Authorization: 'Bearer s3cr3t', 'Content-Type': 'application/json' },
    cookies: { sessionid: 's3cr3t' },
    env: { REMOTE_ADDR: '203.0.113.9' },
    data: '{"amount": 12, "card_number": "4111111111111111"}',
  },
  breadcrumbs: {
    values: [
      { type: 'default', category: 'query', message: 'SELECT * FROM orders', timestamp: '2026-03-10T11:59:57Z' },
      {
        type: 'http',
        category: 'httplib',
        timestamp: 1_773_143_997.5,
        data: { method: 'GET', url: 'https://stock.example/7', status_code: 503 },
      },
    ],
  },
  exception: {
    values: [
      { type: 'KeyError', module: null, value: "'7'", stacktrace: { frames: [{ function: 'find', in_app: false }] } },
      {
        type: 'OrderMissing',
        module: 'orders.errors',
        value: 'no such order',
        mechanism: { type: 'django', handled: false },
        stacktrace: {
          frames: [
            {
              filename: 'django/core/handlers/exception.py',
              abs_path: '/srv/venv/lib/python3.12/site-packages/django/core/handlers/exception.py',
              function: 'inner',
              module: 'django.core.handlers.exception',
              lineno: 55,
              in_app: false,
              pre_context: ['def inner(request):'],
              context_line: 'response = get_response(request)',
            },
            {
              filename: 'orders/views.py',
              abs_path: '/srv/app/orders/views.py',
              function: 'show',
              module: 'orders.views',
              lineno: 31,
              in_app: true,
              vars: { token: 's3cr3t' },
            },
          ],
        },
      },
    ],
  },
}

export const ANDROID = {
  event_id: '1f1c2d3e4b5a69788796a5b4c3d2e1f0',
  platform: 'java',
  level: 'fatal',
  release: 'com.example.shop@5.1+511',
  sdk: { name: 'sentry.java.android', version: '8.1.0' },
  contexts: {
    os: { name: 'Android', version: '15' },
    device: { model: 'Pixel 9', memory_size: 8_000_000_000 },
    trace: { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', span_id: '00f067aa0ba902b7' },
  },
  exception: {
    values: [
      {
        type: 'IllegalStateException',
        module: 'java.lang',
        value: 'cart is empty',
        mechanism: { type: 'UncaughtExceptionHandler', handled: false },
        stacktrace: {
          frames: [
            {
              module: 'android.os.Handler',
              function: 'dispatchMessage',
              filename: 'Handler.java',
              lineno: 106,
              in_app: false,
            },
            { module: 'com.example.shop.Cart', function: 'total', filename: 'Cart.kt', lineno: 42, in_app: true },
          ],
        },
      },
    ],
  },
}

/** Crash report whose stack is in the crashed thread. */
export const APPLE = {
  event_id: '2f1c2d3e4b5a69788796a5b4c3d2e1f0',
  platform: 'cocoa',
  level: 'fatal',
  release: 'com.example.shop@5.1+511',
  sdk: { name: 'sentry.cocoa', version: '8.40.0' },
  contexts: { os: { name: 'iOS', version: '18.2' }, device: { model: 'iPhone17,1' } },
  exception: { values: [{ type: 'EXC_BAD_ACCESS', value: 'EXC_BAD_ACCESS at 0x0', mechanism: { handled: false } }] },
  threads: {
    values: [
      { id: 1, crashed: false, stacktrace: { frames: [{ function: 'idle' }] } },
      {
        id: 0,
        crashed: true,
        stacktrace: {
          frames: [
            {
              function: '-[UIControl sendAction:to:forEvent:]',
              package: '/System/Library/PrivateFrameworks/UIKitCore.framework/UIKitCore',
              instruction_addr: '0x1a2b3c4d5',
              in_app: false,
            },
            {
              function: 'Cart.total()',
              package: '/private/var/containers/Bundle/Application/6F0C/Shop.app/Shop',
              instruction_addr: '0x104b2c1a8',
              in_app: true,
            },
          ],
        },
      },
    ],
  },
}
