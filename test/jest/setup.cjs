require('stuntdouble/jest/extend')
