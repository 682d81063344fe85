#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""vsix.py FOLDER LICENSE OUT: packs an extension of Visual Studio Code, as `code --install-extension OUT` reads it.

The package depends only on the files: entries are in order and carry no times.
"""
import json
import os
import sys
import xml.sax.saxutils
import zipfile

TYPES = '''<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="json" ContentType="application/json"/><Default Extension="js" ContentType="application/javascript"/>
<Default Extension="md" ContentType="text/markdown"/><Default Extension="txt" ContentType="text/plain"/>
<Default Extension="vsixmanifest" ContentType="text/xml"/>
</Types>
'''
MANIFEST = '''<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity Language="en-US" Id={name} Version={version} Publisher={publisher}/>
<DisplayName>{display}</DisplayName><Description xml:space="preserve">{description}</Description>
<Categories>{categories}</Categories><License>extension/LICENSE.txt</License>
<Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/></Properties>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/></Assets>
</PackageManifest>
'''


def manifest(package):
    quote, text = xml.sax.saxutils.quoteattr, xml.sax.saxutils.escape
    return MANIFEST.format(name=quote(package['name']), version=quote(package['version']), publisher=quote(package['publisher']),
                           display=text(package['displayName']), description=text(package['description']),
                           categories=text(','.join(package['categories'])), engine=quote(package['engines']['vscode']))


def files_of(folder):
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            full = os.path.join(path, name)
            yield os.path.relpath(full, folder), full


def main(folder, licence, out):
    with open(os.path.join(folder, 'package.json'), encoding='utf-8') as file:
        package = json.load(file)
    entries = [('[Content_Types].xml', TYPES.encode()), ('extension.vsixmanifest', manifest(package).encode())]
    for name, full in [*files_of(folder), ('LICENSE.txt', licence)]:
        with open(full, 'rb') as file:
            entries.append(('extension/' + name, file.read()))
    part = out + '.part'
    with zipfile.ZipFile(part, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    os.replace(part, out)


if len(sys.argv) != 4:
    sys.exit('usage: vsix.py FOLDER LICENSE OUT')
main(*sys.argv[1:])
