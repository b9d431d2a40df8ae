var express = require('express');
var path = require('path');
// with the other imports

var ordersRouter = require('./routes/orders');

var app = express();
// after app is created, before the routes

app.use(express.json());
app.use(express.urlencoded({ extended: false }));
app.use(express.static(path.join(__dirname, 'public')));
app.use('/orders', ordersRouter);

app.use(function (req, res, next) {
  next(Object.assign(new Error('Not Found'), { status: 404 }));
});
// after the routes, before your own error handlers

app.use(function (err, req, res, next) {
  res.status(err.status || 500);
  res.send('error');
});

module.exports = app;
